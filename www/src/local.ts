// The engine in this thread: for workers of the caller's own, for Node, for tests. A page should use the package's
// main entry, which puts the same thing behind a worker.
import type { Backend, RunOptions } from './backend.js';
import { callback, checkEnvironment, checkOptions } from './check.js';
import { BackedCleaner, BackedEngine, checkLoad } from './engine.js';
import { disposed, FairhandError, throwIfAborted } from './errors.js';
import { nextTask, SLICE_MS } from './host.js';
import { fault, guarded, instantiate, type Engine as WasmEngine, type Job, type Module } from './module.js';
import type { JobRequest, JobResult, Question } from './protocol.js';
import { Queue } from './queue.js';
import { Rate } from './cache/rate.js';
import type { OpenModel } from './cache/remote-model.js';
import { openSource } from './source.js';
import type { Cleaner, CleanerOptions, Engine, EngineInfo, LoadOptions, LoadProgress, ModelSource, StorageReport, Usage } from './types.js';

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
  return new BackedEngine(await LocalBackend.load(source, { ...options, ...(onProgress && { onProgress }) }), options.seed);
}

/** What works without a model, in this thread. */
export async function loadCleaner(options: CleanerOptions = {}): Promise<Cleaner> {
  checkOptions(options);
  checkEnvironment();
  return new BackedCleaner(await LocalBackend.withoutModel(options));
}

/** What a step of a job reports. */
interface StepReport {
  done: boolean;
  text?: string;
  progress?: { phase: 'prefill' | 'decode' | 'rules'; done: number; total: number };
}

export class LocalBackend implements Backend {
  readonly info: EngineInfo;
  readonly #wasm: Module['wasm'];
  readonly #engine: WasmEngine | undefined;
  readonly #queue = new Queue();
  readonly #disposal = new AbortController();

  private constructor({ wasm, variant, threads }: Module, engine: WasmEngine | undefined, storage?: StorageReport) {
    this.#wasm = wasm;
    this.#engine = engine;
    const about = guarded(() => engine?.info() ?? { versions: wasm.version() }) as Pick<EngineInfo, 'versions' | 'model'>;
    this.info = { ...about, worker: false, variant, threads, ...(storage && { storage }) };
  }

  static async withoutModel({ wasm, signal }: CleanerOptions): Promise<LocalBackend> {
    const module = await instantiate({ wasm, threads: 1 });
    throwIfAborted(signal);
    return new LocalBackend(module, undefined);
  }

  static async load(source: ModelSource, options: LoadOptions): Promise<LocalBackend> {
    const { signal, onProgress, contextSize } = options;
    // Both at once: the module is compiled while the model's first bytes travel.
    const compiling = instantiate(options);
    compiling.catch(() => {}); // reported below
    const waiting: LoadProgress = { phase: 'wait', loaded: 0, total: null, fromCache: false, resumedFrom: 0, bytesPerSecond: null };
    const opened = await openSource(source, {
      signal,
      onWait: () => onProgress?.(waiting),
      onArrival: onProgress,
      ...(options.cache === false && { store: null }),
    });
    try {
      const module = await compiling;
      const engine = await takeIn(module, opened, contextSize, onProgress, signal);
      const backend = new LocalBackend(module, engine, opened.report);
      await opened.close();
      return backend;
    } catch (error) {
      await opened.close(error);
      throw error;
    }
  }

  async run(request: JobRequest, options: RunOptions): Promise<JobResult> {
    const queued = performance.now();
    return this.#turn(options.signal, async (signal) => {
      const started = performance.now();
      const job = guarded(() => (this.#engine ? this.#engine.start(request) : startWithoutModel(this.#wasm, request)));
      try {
        let firstText: number | undefined;
        const onToken = (text: string) => {
          firstText ??= performance.now();
          options.onToken?.(text);
        };
        await drive(job, { ...options, signal, onToken });
        const result = guarded(() => job.result()) as Record<string, unknown>;
        const counts = guarded(() => job.usage()) as Omit<Usage, 'queueMs' | 'totalMs' | 'ttftMs'>;
        const times = { queueMs: started - queued, totalMs: performance.now() - started };
        return { ...result, usage: { ...counts, ...times, ...(firstText && { ttftMs: firstText - started }) } };
      } finally {
        if (!fault()) job.free();
      }
    });
  }

  async ask(question: Question, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#turn(signal, async () => {
      switch (question.ask) {
        case 'countTokens': {
          const engine = this.#engine ?? needsModel();
          return guarded(() => engine.countTokens(question.text));
        }
        case 'readTranscript':
          return guarded(() => this.#wasm.readTranscript(question.file, question.fileName));
      }
    });
  }

  async dispose(): Promise<void> {
    if (this.#disposal.signal.aborted) return;
    this.#disposal.abort(disposed());
    // After the job that is running: it stops at its next slice.
    await this.#queue.run(undefined, async () => {
      if (!fault()) this.#engine?.free();
    });
  }

  /** Waits for the turn in the queue, and ends with `disposed` when the engine is disposed before the work has ended. */
  async #turn<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const disposal = this.#disposal.signal;
    const either = signal ? AbortSignal.any([disposal, signal]) : disposal;
    const result = await this.#queue.run(either, () => work(either));
    throwIfAborted(either); // short work ends before a cancel of the same moment is heard
    return result;
  }
}

/** Reads a model into the module. */
async function takeIn(
  { wasm }: Module,
  opened: OpenModel,
  contextSize: number | undefined,
  onProgress: LoadOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<WasmEngine> {
  const { report } = opened;
  const loader = guarded(() => new wasm.ModelLoader(opened.total, contextSize === undefined ? {} : { contextSize }));
  const rate = new Rate();
  let finished = false;
  let loaded = 0;
  let slice = performance.now();
  try {
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
    finished = true; // `finish` takes the loader's memory over, whether it succeeds or not
    return guarded(() => loader.finish());
  } finally {
    if (!finished && !fault()) loader.free();
  }
}

/** Steps a job to its end, letting the event loop turn between slices. */
async function drive(job: Job, { signal, onToken, onProgress, timeoutMs = 0 }: RunOptions): Promise<void> {
  const started = performance.now();
  let slice = started;
  for (;;) {
    const report = guarded(() => job.step()) as StepReport | undefined;
    if (report?.text) onToken?.(report.text);
    if (report?.progress) onProgress?.(report.progress);
    if (report?.done) return;
    const now = performance.now();
    if (timeoutMs > 0 && now - started >= timeoutMs) {
      throw new FairhandError('timeout', `The work took longer than ${timeoutMs} ms.`, { detail: { timeoutMs } });
    }
    if (now - slice < SLICE_MS) continue;
    await nextTask();
    throwIfAborted(signal);
    slice = performance.now();
  }
}

function startWithoutModel(wasm: Module['wasm'], request: JobRequest): Job {
  return request.task === 'cleanup' && request.mode === 'choose' ? wasm.startCleanup(request) : needsModel();
}

function needsModel(): never {
  throw new FairhandError('invalid-argument', 'This needs a model: use load().');
}
