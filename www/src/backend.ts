// The seam under the public interface: a place that runs jobs. One is in this thread, one behind a worker.
import type { JobRequest, JobResult, Question } from './protocol.js';
import type { Attempt, CallProgress, EngineInfo, ModelSource, PrepareOptions, Priority } from './types.js';

export interface RunOptions {
  signal?: AbortSignal | undefined;
  onToken?: ((text: string) => void) | undefined;
  onProgress?: ((progress: CallProgress) => void) | undefined;
  priority?: Priority | undefined;
  /** Hears, before the job ends, what was asked and answered; the request must say `record`. */
  onAttempts?: ((attempts: Attempt[]) => void) | undefined;
}

export interface Backend {
  readonly info: EngineInfo;
  /** Runs a job in its turn. */
  run(request: JobRequest, options: RunOptions): Promise<JobResult>;
  /** Answers a question: one that takes time after the jobs before it, others at once. */
  ask(question: Question, signal: AbortSignal | undefined): Promise<unknown>;
  /** Loads one more model, under the name by which profiles know it. */
  addModel(name: string, source: ModelSource, options: PrepareOptions): Promise<void>;
  dispose(): Promise<void>;
}
