// A stand-in for tests of what uses this package: the same interface and the same checks, with answers from a script.
// No model, no WebAssembly, no worker.
import type { Backend, RunOptions } from './backend.js';
import { BackedEngine } from './engine.js';
import { abortError, disposed, FairhandError, throwIfAborted } from './errors.js';
import type { JobRequest, JobResult, Question } from './protocol.js';
import { Queue } from './queue.js';
import type { CleanupResult, Engine, EngineInfo, StepsResult, TagResult, TasksResult, Transcript, Usage } from './types.js';

export * from './types.js';
export { FairhandError, type ErrorCode } from './errors.js';

/** What an engine is to answer. A function gets the text of the call; an error is what the call rejects with. */
export interface Script {
  cleanup?: Answer<string | Partial<CleanupResult>>;
  extractTasks?: Answer<readonly string[] | Partial<TasksResult>>;
  decomposeTask?: Answer<readonly string[] | Partial<StepsResult>>;
  tagContent?: Answer<Partial<TagResult>>;
  /** The pieces that the model writes, in order. */
  complete?: Answer<readonly string[] | string>;
  /** Milliseconds that each call takes, so that cancels and time limits have something to interrupt; default 0. */
  delayMs?: number;
}

export type Answer<T> = T | FairhandError | ((text: string) => T | FairhandError | Promise<T | FairhandError>);

const versions = { crate: '0.0.0', rules: '0', prompts: {} };
const provenance = { provider: 'script', versions };

/**
 * An engine that answers by `script`. What the script leaves out is answered plainly: a cleanup changes nothing, a
 * transcript is its own text, there are no tasks.
 */
export function fakeEngine(script: Script = {}): Engine {
  return new BackedEngine(new ScriptedBackend(script), undefined);
}

class ScriptedBackend implements Backend {
  readonly info: EngineInfo;
  readonly #script: Script;
  readonly #queue = new Queue();
  readonly #disposal = new AbortController();

  constructor(script: Script) {
    this.#script = script;
    this.info = { worker: false, threads: 1, versions, contextSize: 2048, model: { name: 'script', architecture: 'script', layers: 0, vocabulary: 0, weightBytes: 0 } } as EngineInfo;
  }

  async run(request: JobRequest, options: RunOptions): Promise<JobResult> {
    const queued = performance.now();
    return this.#turn(options.signal, async (signal) => {
      const started = performance.now();
      const { delayMs = 0 } = this.#script;
      const limit = options.timeoutMs || Infinity;
      await wait(Math.min(delayMs, limit), signal);
      if (delayMs >= limit) {
        throw new FairhandError('timeout', `The work took longer than ${limit} ms.`, { detail: { timeoutMs: limit } });
      }
      const { result, pieces } = await this.#answer(request);
      for (const piece of pieces) {
        options.onToken?.(piece);
        await wait(0, signal);
      }
      const usage: Usage = {
        promptTokens: 'text' in request ? words(request.text) : 0,
        cachedTokens: 0,
        completionTokens: pieces.length,
        forcedTokens: 0,
        queueMs: started - queued,
        totalMs: performance.now() - started,
      };
      return { provenance, usage, ...result };
    });
  }

  async ask(question: Question, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#turn(signal, async () => {
      if (question.ask === 'countTokens') return words(question.text);
      const text = typeof question.file === 'string' ? question.file : new TextDecoder().decode(question.file);
      return { text, segments: [], notices: [] } satisfies Transcript;
    });
  }

  async dispose(): Promise<void> {
    this.#disposal.abort(disposed());
  }

  async #answer(request: JobRequest): Promise<{ result: Record<string, unknown>; pieces: readonly string[] }> {
    const { cleanup, extractTasks, decomposeTask, tagContent, complete } = this.#script;
    switch (request.task) {
      case 'cleanup': {
        const answer = await told(cleanup, request.text, request.text);
        const result = typeof answer === 'string' ? { text: answer, edits: whole(request.text, answer) } : { text: request.text, edits: [], ...answer };
        return { result, pieces: [] };
      }
      case 'extractTasks': {
        const answer = await told(extractTasks, request.text, []);
        const result = isList(answer) ? { tasks: answer.map((text) => ({ text, by: 'script' })) } : { tasks: [], ...answer };
        return structured(result);
      }
      case 'decomposeTask': {
        const answer = await told(decomposeTask, request.text, ['Begin', 'Go on', 'Finish']);
        return structured(isList(answer) ? { steps: answer } : { steps: [], ...answer });
      }
      case 'tagContent':
        return structured({ topic: 'note', intent: 'capture', ...(await told(tagContent, request.text, {})) });
      case 'complete': {
        const text = request.prompt ?? request.messages?.at(-1)?.content ?? '';
        const answer = await told(complete, text, '');
        const pieces = typeof answer === 'string' ? (answer.match(/\s*\S+/g) ?? []) : answer;
        return { result: { text: pieces.join(''), finishReason: 'end', truncated: false }, pieces };
      }
    }
  }

  async #turn<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const disposal = this.#disposal.signal;
    const either = signal ? AbortSignal.any([disposal, signal]) : disposal;
    return this.#queue.run(either, () => work(either));
  }
}

async function told<T>(answer: Answer<T> | undefined, text: string, otherwise: T): Promise<T> {
  const given = typeof answer === 'function' ? await (answer as (text: string) => T | FairhandError | Promise<T | FairhandError>)(text) : answer;
  if (given instanceof FairhandError) throw given;
  return given ?? otherwise;
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function structured(result: Record<string, unknown>): { result: Record<string, unknown>; pieces: readonly string[] } {
  const raw = JSON.stringify(result);
  return { result: { raw, truncated: false, ...result }, pieces: [raw] };
}

/** One edit that turns a text into another. */
function whole(original: string, replacement: string): CleanupResult['edits'] {
  if (original === replacement) return [];
  return [{ start: 0, end: original.length, original, replacement, kind: 'script', confidence: 1, by: 'script' }];
}

function words(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, milliseconds);
    const abort = () => (clearTimeout(timer), reject(abortError(signal)));
    function done() {
      signal.removeEventListener('abort', abort);
      resolve();
    }
    signal.addEventListener('abort', abort, { once: true });
  });
}
