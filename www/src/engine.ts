// The public interface over a backend: arguments checked and named as the wasm module names them.
import type { Backend, RunOptions } from './backend.js';
import { callback, checkCompletion, checkEnvironment, checkOptions } from './check.js';
import { FairhandError } from './errors.js';
import type { JobRequest, JobResult } from './protocol.js';
import type {
  Cleaner,
  CleanupOptions,
  CleanupResult,
  CallOptions,
  Completion,
  CompleteRequest,
  CompleteResult,
  Engine,
  EngineInfo,
  ModelCallOptions,
  StepsOptions,
  StepsResult,
  TagOptions,
  TagResult,
  TasksOptions,
  TasksResult,
  Transcript,
} from './types.js';

/** A {@link Cleaner} that asks `backend`. */
export class BackedCleaner implements Cleaner {
  protected readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  get info(): EngineInfo {
    return this.backend.info;
  }

  async cleanup(text: string, options: CleanupOptions = {}): Promise<CleanupResult> {
    checkOptions(options);
    const { level, preset, dictionary, language, mode = 'choose' } = options;
    const result = await this.start<CleanupResult>(
      { task: 'cleanup', text: checkedText(text), mode, options: defined({ level, preset, dictionary, language }) },
      options,
    );
    return loneSurrogate.test(text) ? restored(text, result) : result;
  }

  async readTranscript(file: string | ArrayBuffer | Uint8Array, fileName?: string): Promise<Transcript> {
    if (fileName !== undefined && fileName !== null && typeof fileName !== 'string') {
      throw new FairhandError('invalid-argument', 'The file name must be a string.');
    }
    const bytes = file instanceof ArrayBuffer ? new Uint8Array(file) : file;
    const question = { ask: 'readTranscript', file: bytes instanceof Uint8Array ? bytes : checkedText(bytes), fileName } as const;
    return (await this.backend.ask(question, undefined)) as Transcript;
  }

  async dispose(): Promise<void> {
    await this.backend.dispose();
  }

  /** @throws FairhandError, whatever goes wrong: the backend's own, or for arguments `invalid-argument` */
  protected async start<R>(request: JobRequest, options: ModelCallOptions): Promise<R> {
    const { maxTokens, seed, signal, onToken, onProgress, timeoutMs } = options;
    checkCount('maxTokens', maxTokens);
    checkCount('seed', seed);
    checkCount('timeoutMs', timeoutMs);
    const run: RunOptions = { signal, timeoutMs, onToken: callback('onToken', onToken), onProgress: callback('onProgress', onProgress) };
    const result: JobResult = await this.backend.run({ ...request, ...defined({ maxTokens, seed }) }, run);
    return result as unknown as R; // the wasm module's results have the public interface's shapes; its tests hold them to it
  }
}

/** An {@link Engine} that asks `backend`. */
export class BackedEngine extends BackedCleaner implements Engine {
  readonly #seed: number | undefined;

  constructor(backend: Backend, seed: number | undefined) {
    super(backend);
    this.#seed = seed;
  }

  async extractTasks(text: string, options: TasksOptions = {}): Promise<TasksResult> {
    checkOptions(options);
    const { examples = [], strategy = 'grounded' } = options;
    return this.start({ task: 'extractTasks', text: checkedText(text), examples, strategy }, options);
  }

  async decomposeTask(task: string, options: StepsOptions = {}): Promise<StepsResult> {
    checkOptions(options);
    const { examples = [], strategy = 'grounded' } = options;
    return this.start({ task: 'decomposeTask', text: checkedText(task), examples, strategy }, options);
  }

  async tagContent(text: string, options: TagOptions = {}): Promise<TagResult> {
    checkOptions(options);
    const { strategy = 'grounded', intents, topics } = options;
    return this.start({ task: 'tagContent', text: checkedText(text), strategy, options: defined({ intents, topics }) }, options);
  }

  complete(request: CompleteRequest): Completion {
    checkCompletion(request);
    const { grammar, schema, regex, sampling, stop } = request;
    const prompt = 'messages' in request && request.messages !== undefined ? { messages: request.messages } : { prompt: (request as { prompt: string }).prompt };
    const job: JobRequest = { task: 'complete', ...prompt, ...defined({ grammar, schema, regex, sampling, stop }) };
    return new RunningCompletion((options) => this.start<CompleteResult>(job, { ...request, ...options }), request);
  }

  async countTokens(text: string, options: CallOptions = {}): Promise<number> {
    checkOptions(options);
    return (await this.backend.ask({ ask: 'countTokens', text: checkedText(text) }, options.signal)) as number;
  }

  protected override start<R>(request: JobRequest, options: ModelCallOptions): Promise<R> {
    return super.start(request, { ...defined({ seed: this.#seed }), ...options });
  }
}

/** Starts at once. Pieces that nobody is waiting for are kept, so a late loop misses nothing. */
class RunningCompletion implements Completion {
  readonly #result: Promise<CompleteResult>;
  readonly #leave = new AbortController();
  readonly #pieces: string[] = [];
  #ended = false;
  #wake = () => {};

  constructor(start: (options: ModelCallOptions) => Promise<CompleteResult>, { signal, onToken }: ModelCallOptions) {
    const signals = [this.#leave.signal, ...(signal ? [signal] : [])];
    this.#result = start({
      signal: AbortSignal.any(signals),
      onToken: (text) => {
        this.#pieces.push(text);
        this.#wake();
        onToken?.(text);
      },
    }).finally(() => {
      this.#ended = true;
      this.#wake();
    });
    this.#result.catch(() => {}); // a caller who only iterates hears of it there
  }

  then<A, B>(
    onResult?: ((result: CompleteResult) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(onResult, onError) as Promise<A | B>;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    try {
      for (;;) {
        while (this.#pieces.length) yield this.#pieces.shift()!;
        if (this.#ended) break;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      await this.#result;
    } finally {
      this.#leave.abort();
    }
  }
}

const loneSurrogate = /\p{Surrogate}/u;

/** The wasm module reads a lone surrogate as U+FFFD, which has its length: the raw text's own units are put back. */
function restored(raw: string, result: CleanupResult): CleanupResult {
  let text = '';
  let end = 0;
  const edits = result.edits.map((edit) => ({ ...edit, original: raw.slice(edit.start, edit.end) }));
  for (const edit of edits) {
    text += raw.slice(end, edit.start) + edit.replacement;
    end = edit.end;
  }
  return { ...result, text: text + raw.slice(end), edits };
}

/**
 * What can be known of a load before any of its work.
 * @throws FairhandError `invalid-argument`, `unsupported-environment`
 */
export function checkLoad(source: unknown, options: { seed?: number; contextSize?: number; threads?: number }): void {
  checkOptions(options);
  checkEnvironment();
  const { seed, contextSize, threads } = options;
  if (source === undefined || source === null) {
    throw new FairhandError('invalid-argument', 'There is no model to load: the source is missing.');
  }
  checkCount('seed', seed);
  checkCount('contextSize', contextSize);
  checkCount('threads', threads);
  if (contextSize === 0) throw new FairhandError('invalid-argument', 'contextSize must be at least 1.');
  if (threads === 0) throw new FairhandError('invalid-argument', 'threads must be at least 1.');
}

function checkCount(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
    throw new FairhandError('invalid-argument', `${name} must be a whole number, 0 or more.`);
  }
}

function checkedText(text: string): string {
  if (typeof text !== 'string') throw new FairhandError('invalid-argument', 'The text must be a string.');
  return text;
}

/** Without the fields that are undefined: they mean the module's own defaults. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
