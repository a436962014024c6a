// The engine in this thread: for workers of the caller's own, for Node, for tests. A page should use the package's
// main entry, which puts the same thing behind a worker.
import type { Backend, RunOptions } from './backend.js';
import { callback, checkEnvironment } from './check.js';
import { BackedCleaner, BackedEngine, checkLoad } from './engine.js';
import { disposed, FairhandError, throwIfAborted } from './errors.js';
import { nextTask, SLICE_MS } from './host.js';
import { fault, guarded, instantiate, type Engine as WasmEngine, type Job, type Module, type ModelLoader } from './module.js';
import { checkNamed } from './options.js';
import type { JobRequest, JobResult, Question } from './protocol.js';
import { Queue } from './queue.js';
import { Rate } from './cache/rate.js';
import type { OpenModel } from './cache/remote-model.js';
import { openSource } from './source.js';
import type { Attempt, Cleaner, CleanerOptions, Engine, EngineInfo, LoadOptions, LoadProgress, ModelSource, PrepareOptions, Priority, Provenance, StorageReport, Usage } from './types.js';

export * from './types.js';
export { FairhandError, type ErrorCode } from './errors.js';
export { capabilities } from './capabilities.js';
export { modelCache } from './cache/model-cache.js';

/**
 * Loads a model in this thread.
 * @throws FairhandError as {@link openSource}, `unsupported-*`, `corrupt-model`, `tokenizer`, `template`, `out-of-memory`
 */
export async function load(source: ModelSource, options: LoadOptions = {}): Promise<Engine> {
  checkLoad(source, options);
  const onProgress = callback('onProgress', options.onProgress);
  return new BackedEngine(await LocalBackend.load(source, { ...options, ...(onProgress && { onProgress }) }), options);
}

/** What works without a model, in this thread. */
export async function loadCleaner(options: CleanerOptions = {}): Promise<Cleaner> {
  checkNamed('cleaner', options);
  checkEnvironment();
  return new BackedCleaner(await LocalBackend.withoutModel(options));
}

/** What a step of a job reports. */
interface StepReport {
  done: boolean;
  text?: string;
  progress?: { phase: 'prefill' | 'decode' | 'rules' | 'judge'; done: number; total: number };
}

/** How models are loaded, the first and every other. */
type ModelOptions = Pick<LoadOptions, 'contextSize' | 'kvCache' | 'cache'>;

export class LocalBackend implements Backend {
  readonly info: EngineInfo;
  readonly #module: Module;
  readonly #engine: WasmEngine | undefined;
  readonly #options: ModelOptions;
  readonly #queue: Queue;
  readonly #disposal = new AbortController();

  private constructor(module: Module, engine: WasmEngine | undefined, options: LoadOptions, storage?: StorageReport) {
    const { wasm, variant, threads } = module;
    this.#module = module;
    this.#engine = engine;
    this.#options = options;
    this.#queue = new Queue({ limit: options.concurrency });
    const about = guarded(() => engine?.info() ?? { versions: wasm.version() }) as Pick<EngineInfo, 'versions' | 'model'>;
    this.info = { ...about, worker: false, variant, threads, ...(storage && { storage }) };
  }

  static async withoutModel({ wasm, signal }: CleanerOptions): Promise<LocalBackend> {
    const module = await instantiate({ wasm, threads: 1 });
    throwIfAborted(signal);
    return new LocalBackend(module, undefined, {});
  }

  static async load(source: ModelSource, options: LoadOptions): Promise<LocalBackend> {
    // Both at once: the module is compiled while the model's first bytes travel.
    const compiling = instantiate(options);
    compiling.catch(() => {}); // reported below
    return takeIn(source, options, compiling, async (loader, report) => {
      const engine = guarded(() => loader.finish());
      return new LocalBackend(await compiling, engine, options, report);
    });
  }

  async addModel(name: string, source: ModelSource, { signal, onProgress }: PrepareOptions): Promise<void> {
    const engine = this.#engine ?? needsModel();
    const disposal = this.#disposal.signal;
    throwIfAborted(disposal);
    const either = signal ? AbortSignal.any([disposal, signal]) : disposal;
    const options = { ...this.#options, signal: either, ...(onProgress && { onProgress }) };
    await takeIn(source, options, Promise.resolve(this.#module), async (loader) => {
      throwIfAborted(either);
      guarded(() => loader.join(engine, name));
    });
  }

  async run(request: JobRequest, options: RunOptions): Promise<JobResult> {
    const queued = performance.now();
    const work = async (signal: AbortSignal) => {
      const started = performance.now();
      const job = guarded(() => (this.#engine ? this.#engine.start(request) : startWithoutModel(this.#module.wasm, request)));
      try {
        let firstText: number | undefined;
        const onToken = (text: string) => {
          firstText ??= performance.now();
          options.onToken?.(text);
        };
        await drive(job, { ...options, signal, onToken });
        const result = guarded(() => job.result()) as Record<string, unknown> & { provenance: Provenance };
        const counts = guarded(() => job.usage()) as Omit<Usage, 'queueMs' | 'totalMs' | 'ttftMs'>;
        const times = { queueMs: started - queued, totalMs: performance.now() - started };
        return { ...result, usage: { ...counts, ...times, ...(firstText && { ttftMs: firstText - started }) } };
      } finally {
        if (!fault()) {
          options.onAttempts?.(guarded(() => job.attempts()) as Attempt[]);
          job.free();
        }
      }
    };
    return this.#turn(options.signal, work, options.priority);
  }

  async ask(question: Question, signal: AbortSignal | undefined): Promise<unknown> {
    const long = question.ask === 'countTokens' || question.ask === 'readTranscript';
    if (long) return this.#turn(signal, async () => this.#answer(question));
    // What is registered or looked up at once need not wait for the jobs.
    throwIfAborted(this.#disposal.signal);
    throwIfAborted(signal);
    return this.#answer(question);
  }

  #answer(question: Question): unknown {
    switch (question.ask) {
      case 'countTokens':
        return this.#asked((engine) => engine.countTokens(question.text));
      case 'readTranscript':
        return guarded(() => this.#module.wasm.readTranscript(question.file, question.fileName));
      case 'registerPrompt':
        return this.#asked((engine) => engine.registerPrompt(question.definition));
      case 'registerProfile':
        return this.#asked((engine) => engine.registerProfile(question.profile));
      case 'prepare':
        return this.#asked((engine) => engine.prepare(question.profiles));
      case 'fingerprint':
        return this.#asked((engine) => engine.fingerprint());
      case 'prefixes':
        return this.#asked((engine) => engine.prefixes());
      case 'takePrefixes':
        return this.#asked((engine) => engine.takePrefixes(question.bytes));
    }
  }

  async dispose(): Promise<void> {
    if (this.#disposal.signal.aborted) return;
    this.#disposal.abort(disposed());
    // After the job that is running: it stops at its next slice.
    await this.#queue.run(undefined, async () => {
      if (!fault()) this.#engine?.free();
    });
  }

  #asked<T>(ask: (engine: WasmEngine) => T): T {
    const engine = this.#engine ?? needsModel();
    return guarded(() => ask(engine));
  }

  /** Waits for the turn in the queue, and ends with `disposed` when the engine is disposed before the work has ended. */
  async #turn<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>, priority?: Priority): Promise<T> {
    const disposal = this.#disposal.signal;
    const either = signal ? AbortSignal.any([disposal, signal]) : disposal;
    const result = await this.#queue.run(either, () => work(either), priority);
    throwIfAborted(either); // short work ends before a cancel of the same moment is heard
    return result;
  }
}

/** Opens a model, reads it into the module, and hands it to `finish`, which takes the loader over. */
async function takeIn<T>(
  source: ModelSource,
  { signal, onProgress, contextSize, kvCache, cache }: LoadOptions,
  compiling: Promise<Module>,
  finish: (loader: ModelLoader, report: StorageReport) => Promise<T>,
): Promise<T> {
  const waiting: LoadProgress = { phase: 'wait', loaded: 0, total: null, fromCache: false, resumedFrom: 0, bytesPerSecond: null };
  const opened = await openSource(source, {
    signal,
    onWait: () => onProgress?.(waiting),
    onArrival: onProgress,
    ...(cache === false && { store: null }),
  });
  try {
    const { wasm } = await compiling;
    const loader = guarded(() => new wasm.ModelLoader(opened.total, { ...(contextSize !== undefined && { contextSize }), ...(kvCache !== undefined && { kvCache }) }));
    let finished = false;
    try {
      await read(loader, opened, onProgress, signal);
      finished = true; // `finish` takes the loader's memory over, whether it succeeds or not
    } finally {
      if (!finished && !fault()) loader.free();
    }
    const result = await finish(loader, opened.report);
    await opened.close();
    return result;
  } catch (error) {
    await opened.close(error);
    throw error;
  }
}

/** Reads a model's bytes into its loader. */
async function read(loader: ModelLoader, opened: OpenModel, onProgress: LoadOptions['onProgress'], signal: AbortSignal | undefined): Promise<void> {
  const { report } = opened;
  const rate = new Rate();
  let loaded = 0;
  let slice = performance.now();
  for await (const chunk of opened.chunks) {
    const { phase } = guarded(() => loader.push(chunk)) as Pick<LoadProgress, 'phase'>;
    loaded += chunk.length;
    const live = opened.arriving === 'network';
    const bytesPerSecond = rate.at(live ? chunk.length : 0);
    const { fromCache, resumedFrom } = report;
    onProgress?.({ phase: live ? 'download' : phase, loaded, total: opened.total ?? null, fromCache, resumedFrom, bytesPerSecond });
    if (performance.now() - slice < SLICE_MS) continue;
    await nextTask();
    throwIfAborted(signal);
    slice = performance.now();
  }
  if (opened.total === undefined) onProgress?.({ phase: 'download', loaded, total: loaded, fromCache: false, resumedFrom: 0, bytesPerSecond: rate.at(0) });
}

/** Steps a job to its end, letting the event loop turn between slices. */
async function drive(job: Job, { signal, onToken, onProgress }: RunOptions): Promise<void> {
  let slice = performance.now();
  for (;;) {
    const report = guarded(() => job.step(performance.now())) as StepReport | undefined;
    if (report?.text) onToken?.(report.text);
    if (report?.progress) onProgress?.(report.progress);
    if (report?.done) return;
    if (performance.now() - slice < SLICE_MS) continue;
    await nextTask();
    throwIfAborted(signal);
    slice = performance.now();
  }
}

function startWithoutModel(wasm: Module['wasm'], request: JobRequest): Job {
  return request.task === 'cleanup' && request.mode !== 'rewrite' ? wasm.startCleanup(request) : needsModel();
}

function needsModel(): never {
  throw new FairhandError('invalid-argument', 'This needs a model: use load().');
}
