// The package's main entry: the engine behind a worker. `fairhand/local` is the same interface in this thread.
import { callback, checkEnvironment } from './check.js';
import { BackedCleaner, BackedEngine, checkLoad } from './engine.js';
import { checkNamed } from './options.js';
import { checkWorker, RemoteBackend } from './remote.js';
import type { Cleaner, CleanerOptions, Engine, LoadOptions, ModelSource } from './types.js';

export * from './types.js';
export { FairhandError, type ErrorCode } from './errors.js';
export { capabilities } from './capabilities.js';
export { modelCache } from './cache/model-cache.js';

/**
 * Loads a model behind a worker.
 *
 * When the worker crashes, every pending call rejects with `worker-crashed` and the next call starts a new worker with
 * the same model (read again from its source, so not from a stream).
 * @throws FairhandError `network`, `http`, `corrupt-model`, `integrity-mismatch`, `unsupported-model`, `unsupported-quant`, `tokenizer`,
 *   `template`, `out-of-memory`, `invalid-argument`, `csp-blocked`, `unsupported-environment`, `worker-crashed`,
 *   `version-mismatch`, `aborted`, `timeout`
 */
export async function load(source: ModelSource, options: LoadOptions = {}): Promise<Engine> {
  checkLoad(source, options);
  checkWorker(options.worker);
  const onProgress = callback('onProgress', options.onProgress);
  return new BackedEngine(await RemoteBackend.open(source, { ...options, ...(onProgress && { onProgress }) }), options);
}

/** Starts what works without a model: cleanup by rules, and reading transcripts. */
export async function loadCleaner(options: CleanerOptions = {}): Promise<Cleaner> {
  checkNamed('cleaner', options);
  checkEnvironment();
  checkWorker(options.worker);
  return new BackedCleaner(await RemoteBackend.open(undefined, options));
}
