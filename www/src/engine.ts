// The public interface over a backend: arguments checked and named as the wasm module names them.
import type { Backend, RunOptions } from './backend.js';
import { callback, checkCall, checkCompletion, checkCount, checkEnvironment, checkNames, checkProfile, checkPrompt, invalid } from './check.js';
import { FairhandError } from './errors.js';
import { call, type Host } from './hosted.js';
import { modelKey, Models } from './models.js';
import { checkAnswer, checkCleanup, checkExamples, checkNamed, checkSampling, checkTag } from './options.js';
import type { JobRequest, JobResult } from './protocol.js';
import type {
  AnswerForm,
  Cleaner,
  CleanupOptions,
  CleanupResult,
  CallOptions,
  Completion,
  CompleteRequest,
  CompleteResult,
  Engine,
  EngineInfo,
  LoadOptions,
  Message,
  ModelCallOptions,
  PrepareOptions,
  Profile,
  PromptDefinition,
  PromptIdentity,
  PromptRequest,
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
    checkCleanup(options);
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
    const content = file instanceof ArrayBuffer ? new Uint8Array(file) : file;
    if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
      throw new FairhandError('invalid-argument', 'The transcript must be a string, an ArrayBuffer or a Uint8Array; of a File, its arrayBuffer().');
    }
    const question = { ask: 'readTranscript', file: content, fileName } as const;
    return (await this.backend.ask(question, undefined)) as Transcript;
  }

  async dispose(): Promise<void> {
    await this.backend.dispose();
  }

  /** @throws FairhandError, whatever goes wrong: the backend's own, or for arguments `invalid-argument` */
  protected start<R>(request: JobRequest, options: ModelCallOptions): Promise<R> {
    return this.call(...asked(request, options), (result) => result as unknown as R);
  }

  /** Makes a checked call. The wasm module's results have the public interface's shapes; its tests hold them to it. */
  protected call<R>(request: JobRequest, run: RunOptions, read: (result: JobResult) => R): Promise<R> {
    return this.backend.run(request, run).then(read);
  }
}

/** What an engine does by itself, whatever its calls say. */
export type EngineDefaults = Pick<LoadOptions, 'seed' | 'reasoning' | 'recorder' | 'answers'>;

/** An {@link Engine} that asks `backend`. */
export class BackedEngine extends BackedCleaner implements Engine {
  readonly #defaults: EngineDefaults;
  readonly #models: Models;
  readonly #host: Host;
  #fingerprint: Promise<string> | undefined;

  constructor(backend: Backend, defaults: EngineDefaults) {
    super(backend);
    this.#defaults = defaults;
    this.#models = new Models(backend);
    const { recorder, answers } = defaults;
    this.#host = { recorder, answers, fingerprint: () => this.fingerprint() };
  }

  async extractTasks(text: string, options: TasksOptions = {}): Promise<TasksResult> {
    checkExamples(options);
    const { examples = [], strategy = 'grounded' } = options;
    return this.start({ task: 'extractTasks', text: checkedText(text), examples, strategy }, options);
  }

  async decomposeTask(task: string, options: StepsOptions = {}): Promise<StepsResult> {
    checkExamples(options);
    const { examples = [], strategy = 'grounded' } = options;
    if (!/\p{Alphabetic}/u.test(checkedText(task))) throw invalid('The task to decompose has no words.');
    return this.start({ task: 'decomposeTask', text: checkedText(task), examples, strategy }, options);
  }

  async tagContent(text: string, options: TagOptions = {}): Promise<TagResult> {
    checkTag(options);
    const { strategy = 'grounded', intents, topics } = options;
    return this.start({ task: 'tagContent', text: checkedText(text), strategy, options: defined({ intents, topics }) }, options);
  }

  complete<T = undefined>(request: CompleteRequest<T>): Completion<T> {
    try {
      checkCompletion(request);
      checkNamed('complete', request);
      checkAnswer(request as AnswerForm & CompleteRequest<T>);
    } catch (error) {
      return new RunningCompletion(() => Promise.reject(error), {}); // it is heard where every other failure is
    }
    const { sampling, stop, decode } = request;
    const job: JobRequest = { ...subject(request), ...defined({ sampling, stop }) };
    return new RunningCompletion((options) => this.#decoded(job, { ...request, ...options }, decode), request);
  }

  async countTokens(text: string, options: CallOptions = {}): Promise<number> {
    checkNamed('call', options);
    return (await this.backend.ask({ ask: 'countTokens', text: checkedText(text) }, options.signal)) as number;
  }

  async registerPrompt(definition: PromptDefinition): Promise<PromptIdentity> {
    checkPrompt(definition);
    checkNamed('prompt', definition);
    return this.#changing(async () => {
      const { id, version, messages, inputs, variables, output, profile } = definition;
      const plain = { id, version, messages, ...defined({ inputs, variables, output, profile }) };
      return (await this.backend.ask({ ask: 'registerPrompt', definition: plain }, undefined)) as PromptIdentity;
    });
  }

  async registerProfile(profile: Profile): Promise<void> {
    checkProfile(profile);
    checkNamed('profile', profile);
    checkSampling(profile.sampling);
    const { name, model, maxTokens, sampling, retries, repairs, timeoutMs, reasoning } = profile;
    const key = model === undefined ? undefined : modelKey(model);
    return this.#changing(async () => {
      const known = key === undefined ? undefined : this.#models.nameOf(key, model!);
      const settings = defined({ model: known, maxTokens, sampling, retries, repairs, timeoutMs, reasoning });
      await this.backend.ask({ ask: 'registerProfile', profile: { name, ...settings } }, undefined);
      this.#models.profiles.set(name, known);
    });
  }

  async prepare(profiles: readonly string[], options: PrepareOptions = {}): Promise<void> {
    checkNamed('prepare', options);
    checkNames(profiles);
    const onProgress = callback('onProgress', options.onProgress);
    await this.#changing(() => this.#models.prepare(profiles, { ...options, ...(onProgress && { onProgress }) }));
    await this.backend.ask({ ask: 'prepare', profiles }, options.signal);
  }

  async fingerprint(): Promise<string> {
    // Asked for once, until something changes; a failure is not kept.
    const asked = (this.#fingerprint ??= this.backend.ask({ ask: 'fingerprint' }, undefined) as Promise<string>);
    return asked.catch((error: unknown) => {
      if (this.#fingerprint === asked) this.#fingerprint = undefined;
      throw error;
    });
  }

  async exportPrefixes(): Promise<Uint8Array> {
    return (await this.backend.ask({ ask: 'prefixes' }, undefined)) as Uint8Array;
  }

  async importPrefixes(bytes: Uint8Array): Promise<number> {
    if (!(bytes instanceof Uint8Array)) throw new FairhandError('invalid-argument', 'The prefixes must be a Uint8Array.');
    return (await this.backend.ask({ ask: 'takePrefixes', bytes }, undefined)) as number;
  }

  protected override start<R>(request: JobRequest, options: ModelCallOptions): Promise<R> {
    return super.start(request, this.#completed(options));
  }

  protected override call<R>(request: JobRequest, run: RunOptions, read: (result: JobResult) => R): Promise<R> {
    return call(this.#host, request, run, (job, options) => this.backend.run(job, options), read);
  }

  /** Options with the engine's own where they say nothing. */
  #completed<O extends ModelCallOptions>(options: O): O {
    const { seed, reasoning } = this.#defaults;
    return { ...defined({ seed, reasoning }), ...options };
  }

  /** Does what changes the fingerprint. */
  async #changing<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } finally {
      this.#fingerprint = undefined;
    }
  }

  /**
   * A completion whose answer the caller reads. With a number of retries of the call's own, one that it cannot read is asked for
   * again, whole: the module then counts no retries of its own.
   */
  async #decoded<T>(job: JobRequest, given: ModelCallOptions, decode: ((raw: string) => T) | undefined): Promise<CompleteResult<T>> {
    const options = this.#completed(given);
    const [request, run] = asked(job, options);
    const read = (result: JobResult) => decoded(result as unknown as CompleteResult<T>, decode);
    if (!decode || !options.retries) return this.call(request, run, read);
    for (let tried = 0, attempts = 0; ; tried++) {
      try {
        const result = await this.call({ ...request, retries: 0, seed: (request.seed ?? 0) + tried }, run, read);
        return { ...result, attempts: attempts + result.attempts };
      } catch (error) {
        if (!(error instanceof FairhandError) || error.code !== 'invalid-structured-output') throw error;
        const { message, cause, detail } = error;
        attempts += Number(detail['attempts']);
        if (tried === options.retries) throw new FairhandError(error.code, message, { cause, detail: { ...detail, attempts } });
      }
    }
  }
}

/** A call's request for the module, and how to run it. @throws FairhandError `invalid-argument` */
function asked(request: JobRequest, options: ModelCallOptions): [JobRequest, RunOptions] {
  checkCall(options);
  const { maxTokens, seed, profile, session, reasoning, retries, repairs, timeoutMs, signal, priority, onToken, onProgress } = options;
  const settings = defined({ maxTokens, seed, profile, session, reasoning, retries, repairs, timeoutMs });
  return [{ ...request, ...settings }, { signal, priority, onToken: callback('onToken', onToken), onProgress: callback('onProgress', onProgress) }];
}

/** What a completion is asked of, as the module takes it. */
function subject(request: CompleteRequest<unknown>): JobRequest {
  const { prompt } = request as { prompt?: string | PromptRequest['prompt'] };
  if (typeof prompt === 'object') {
    const { inputs = [], variables = {} } = request as PromptRequest;
    const { id, version } = prompt;
    const named = inputs.map(({ name, text, origin }) => ({ name, text, ...defined({ origin }) }));
    return { task: 'prompt', id, inputs: named, variables: { ...variables }, ...defined({ version }) };
  }
  const { messages } = request as { messages?: readonly Message[] };
  const { grammar, schema, regex } = request as AnswerForm;
  return { task: 'complete', ...defined({ messages, prompt, grammar, schema, regex }) };
}

/** @throws FairhandError `invalid-structured-output` with the answer, for one that `decode` does not take */
function decoded<T>(result: CompleteResult<T>, decode: ((raw: string) => T) | undefined): CompleteResult<T> {
  if (!decode) return result;
  try {
    return { ...result, value: decode(result.text) };
  } catch (cause) {
    const { text: raw, attempts } = result;
    throw new FairhandError('invalid-structured-output', 'decode has thrown: the answer cannot be used.', { cause, detail: { raw, attempts } });
  }
}

/** Starts at once. Pieces that nobody is waiting for are kept, so a late loop misses nothing. */
class RunningCompletion<T> implements Completion<T> {
  readonly #result: Promise<CompleteResult<T>>;
  readonly #leave = new AbortController();
  readonly #pieces: string[] = [];
  #ended = false;
  #wake = () => {};

  constructor(start: (options: ModelCallOptions) => Promise<CompleteResult<T>>, { signal, onToken }: ModelCallOptions) {
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
    onResult?: ((result: CompleteResult<T>) => A | PromiseLike<A>) | null,
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
export function checkLoad(source: unknown, options: LoadOptions): void {
  checkNamed('load', options);
  checkEnvironment();
  const { contextSize, kvCache, threads } = options;
  if (source === undefined || source === null) {
    throw new FairhandError('invalid-argument', 'There is no model to load: the source is missing.');
  }
  checkDefaults(options);
  checkCount('contextSize', contextSize);
  checkCount('threads', threads);
  if (contextSize === 0) throw new FairhandError('invalid-argument', 'contextSize must be at least 1.');
  if (kvCache !== undefined && !['f32', 'f16', 'q8_0'].includes(kvCache)) {
    throw new FairhandError('invalid-argument', 'kvCache must be f32, f16 or q8_0.');
  }
  if (threads === 0) throw new FairhandError('invalid-argument', 'threads must be at least 1.');
}

/** What an engine does by itself. @throws FairhandError `invalid-argument` */
export function checkDefaults({ seed, concurrency, reasoning, recorder, answers }: EngineDefaults & Pick<LoadOptions, 'concurrency'>): void {
  checkCount('concurrency', concurrency);
  if (concurrency === 0) throw new FairhandError('invalid-argument', 'concurrency must be at least 1.');
  checkCall(defined({ seed, reasoning }));
  if (recorder !== undefined && typeof recorder !== 'function') throw new FairhandError('invalid-argument', 'recorder must be a function.');
  if (answers !== undefined && !(typeof answers?.get === 'function' && typeof answers.set === 'function')) {
    throw new FairhandError('invalid-argument', 'answers must have the functions get and set.');
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
