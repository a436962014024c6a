// The seam under the public interface: a place that runs jobs. One is in this thread, one behind a worker.
import type { JobRequest, JobResult, Question } from './protocol.js';
import type { CallProgress, EngineInfo } from './types.js';

export interface RunOptions {
  signal?: AbortSignal | undefined;
  onToken?: ((text: string) => void) | undefined;
  onProgress?: ((progress: CallProgress) => void) | undefined;
  timeoutMs?: number | undefined;
}

export interface Backend {
  readonly info: EngineInfo;
  /** Runs a job after those before it. */
  run(request: JobRequest, options: RunOptions): Promise<JobResult>;
  /** Answers a question after the jobs before it. */
  ask(question: Question, signal: AbortSignal | undefined): Promise<unknown>;
  dispose(): Promise<void>;
}
