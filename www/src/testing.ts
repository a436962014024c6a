// A stand-in for tests of what uses this package: the same interface and the same checks, with answers from a script.
// No model, no WebAssembly, no worker.
import type { Backend, RunOptions } from './backend.js';
import { onAbort } from './abort.js';
import { BackedEngine, checkDefaults } from './engine.js';
import { abortError, disposed, FairhandError, throwIfAborted } from './errors.js';
import { Sha256 } from './cache/sha256.js';
import { checkNamed } from './options.js';
import type { JobRequest, JobResult, Question } from './protocol.js';
import { Queue } from './queue.js';
import type { CleanupResult, Engine, EngineInfo, LoadOptions, Priority, PromptDefinition, PromptIdentity, Provenance, StepsResult, TagResult, TasksResult, Transcript, Usage } from './types.js';

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

/** What a stand-in takes of the options of a load. */
export type FakeOptions = Pick<LoadOptions, 'seed' | 'reasoning' | 'recorder' | 'answers' | 'concurrency'>;

const versions = { crate: '0.0.0', rules: '0', prompts: {} };

/**
 * An engine that answers by `script`. What the script leaves out is answered plainly: a cleanup changes nothing, a
 * transcript is its own text, there are no tasks.
 */
export function fakeEngine(script: Script = {}, options: FakeOptions = {}): Engine {
  checkNamed('load', options);
  checkDefaults(options);
  return new BackedEngine(new ScriptedBackend(script, options), options);
}

class ScriptedBackend implements Backend {
  readonly info: EngineInfo;
  readonly #script: Script;
  readonly #queue: Queue;
  readonly #disposal = new AbortController();
  readonly #prompts: PromptDefinition[] = [];
  readonly #profiles = new Map<string, object>();

  constructor(script: Script, { concurrency }: FakeOptions) {
    this.#script = script;
    this.#queue = new Queue({ limit: concurrency });
    const model = { name: 'script', digest: '0', architecture: 'script', layers: 0, vocabulary: 0, weightBytes: 0 };
    this.info = { worker: false, variant: 'simd', threads: 1, versions, contextSize: 2048, model };
  }

  async run(request: JobRequest, options: RunOptions): Promise<JobResult> {
    const queued = performance.now();
    const work = async (signal: AbortSignal) => {
      const started = performance.now();
      const provenance = this.#provenance(request);
      let response = '';
      try {
        const { delayMs = 0 } = this.#script;
        const limit = request.timeoutMs || Infinity;
        await wait(Math.min(delayMs, limit), signal);
        if (delayMs >= limit) {
          throw new FairhandError('timeout', `The work took longer than ${limit} ms.`, { detail: { timeoutMs: limit } });
        }
        const { result, pieces } = await this.#answer(request);
        for (const piece of pieces) {
          options.onToken?.(piece);
          response += piece;
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
        return { provenance, usage, attempts: 1, ...result };
      } finally {
        const [startedMs, endedMs] = [0, performance.now() - started];
        options.onAttempts?.([{ kind: 'first', prompt: { text: textOf(request) }, seed: request.seed ?? 0, response, startedMs, endedMs }]);
      }
    };
    return this.#turn(options.signal, work, options.priority);
  }

  async ask(question: Question, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#turn(signal, async () => {
      switch (question.ask) {
        case 'countTokens':
          return words(question.text);
        case 'readTranscript': {
          const text = typeof question.file === 'string' ? question.file : new TextDecoder().decode(question.file);
          return { text, segments: [], notices: [] } satisfies Transcript;
        }
        case 'registerPrompt':
          return this.#register(question.definition);
        case 'registerProfile':
          if (this.#profiles.has(question.profile.name)) throw invalid('There is a profile of that name already.');
          return void this.#profiles.set(question.profile.name, question.profile);
        case 'prepare':
          return question.profiles.forEach((name) => this.#profile(name));
        case 'fingerprint':
          return digest([this.#prompts, [...this.#profiles.values()]]);
        case 'prefixes':
          return new Uint8Array();
        case 'takePrefixes':
          return question.bytes.length ? refuse('Nothing is kept of prompts here.') : 0;
      }
    });
  }

  /** Whatever the source, the script answers. */
  async addModel(): Promise<void> {}

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
      case 'prompt':
      case 'complete': {
        const answer = await told(complete, textOf(request), '');
        const pieces = typeof answer === 'string' ? (answer.match(/\s*\S+/g) ?? []) : answer;
        return { result: { text: pieces.join(''), finishReason: 'end', truncated: false }, pieces };
      }
    }
  }

  #register(definition: PromptDefinition): PromptIdentity {
    const { id, version, messages, inputs = [], variables = [] } = definition;
    if (version === 0 || !id || !messages.length) throw invalid('A prompt has an id, a version from 1 on, and messages.');
    if (this.#prompts.some((known) => known.id === id && known.version === version)) throw invalid('There is such a prompt already.');
    const text = messages.map(({ content }) => content).join();
    const unplaced = [...inputs.map(({ name }) => name), ...variables].find((name) => !text.includes(`{{${name}}}`));
    if (unplaced !== undefined) throw invalid(`No message has a place for ${unplaced}.`);
    this.#prompts.push(definition);
    return { id, version, digest: digest(definition) };
  }

  #profile(name: string): object {
    return this.#profiles.get(name) ?? refuse('There is no profile of that name.');
  }

  /** As the engine's, and with the engine's refusals. */
  #provenance(request: JobRequest): Provenance {
    const { session } = request;
    let { profile } = request;
    const named: Partial<Provenance> = {};
    if (request.task === 'prompt') {
      const versionsOf = this.#prompts.filter(({ id }) => id === request.id).sort((a, b) => a.version - b.version);
      const found = request.version === undefined ? versionsOf.at(-1) : versionsOf.find(({ version }) => version === request.version);
      const definition = found ?? refuse('There is no such prompt.');
      const { id, version, inputs = [], variables = [] } = definition;
      const given = request.inputs.map(({ name }) => name);
      const fits =
        given.every((name, at) => inputs.some((input) => input.name === name) && given.indexOf(name) === at) &&
        inputs.every(({ name, optional }) => optional || given.includes(name)) &&
        Object.keys(request.variables).length === variables.length &&
        variables.every((name) => name in request.variables);
      if (!fits) throw invalid('The inputs or variables are not those of the prompt.');
      profile ??= definition.profile;
      named.prompt = { id, version, digest: digest(definition) };
      named.inputs = request.inputs.map(({ name, origin }) => ({ name, ...(origin !== undefined && { origin }) }));
    }
    if (profile !== undefined) this.#profile(profile);
    return { provider: 'script', model: 'script', ...named, ...(profile !== undefined && { profile }), ...(session !== undefined && { session }), versions };
  }

  async #turn<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>, priority?: Priority): Promise<T> {
    const disposal = this.#disposal.signal;
    const either = signal ? AbortSignal.any([disposal, signal]) : disposal;
    return this.#queue.run(either, () => work(either), priority);
  }
}

function invalid(message: string): FairhandError {
  return new FairhandError('invalid-argument', message);
}

function refuse(message: string): never {
  throw invalid(message);
}

function digest(value: unknown): string {
  return new Sha256().update(new TextEncoder().encode(JSON.stringify(value))).hex().slice(0, 16);
}

/** What a request is about. */
function textOf(request: JobRequest): string {
  if (request.task === 'prompt') return request.inputs.map(({ text }) => text).join('\n');
  if (request.task === 'complete') return request.prompt ?? request.messages?.at(-1)?.content ?? '';
  return request.text;
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
    const ignore = onAbort(signal, () => (clearTimeout(timer), reject(abortError(signal))));
    const timer = setTimeout(() => (ignore(), resolve()), milliseconds);
  });
}
