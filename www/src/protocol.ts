// What crosses between the client and its worker. Both unions are closed: every request that carries an id is answered
// by exactly one `return` or `throw` with that id, and the compiler checks that every kind is handled.
import type { WireError } from './errors.js';
import type {
  CallProgress,
  CompleteOptions,
  Example,
  Level,
  LoadProgress,
  Message,
  Preset,
  RemoteModel,
  Strategy,
  TagOptions,
  Usage,
} from './types.js';

/** Both sides send it at the start: a worker script of another build is refused, not misunderstood. */
export const PROTOCOL = 2;

/** A model's source as it is posted. `stream`: the client holds it and sends its pieces when asked. */
export type WireSource =
  | { kind: 'none' }
  | { kind: 'remote'; model: RemoteModel & { url: string } }
  | { kind: 'blob'; blob: Blob }
  | { kind: 'shards'; shards: ((RemoteModel & { url: string }) | Blob)[] }
  | { kind: 'stream' };

export interface OpenRequest {
  source: WireSource;
  wasm: string | ArrayBuffer | WebAssembly.Module | undefined;
  threads: number | undefined;
  contextSize: number | undefined;
  cache: boolean | undefined;
}

/** Work for the wasm module, as it takes it. */
export type JobRequest = (
  | {
      task: 'cleanup';
      text: string;
      mode: 'choose' | 'rewrite';
      options: { level?: Level; preset?: Preset; dictionary?: readonly string[]; language?: string };
    }
  | { task: 'extractTasks'; text: string; examples: readonly Example[]; strategy: Strategy }
  | { task: 'decomposeTask'; text: string; examples: readonly Example[]; strategy: Strategy }
  | { task: 'tagContent'; text: string; strategy: Strategy; options: Pick<TagOptions, 'intents' | 'topics'> }
  | ({ task: 'complete'; messages?: readonly Message[]; prompt?: string } & Pick<CompleteOptions, 'grammar' | 'schema' | 'regex' | 'stop'>)
) &
  Pick<CompleteOptions, 'maxTokens' | 'seed' | 'sampling'>;

/** What a job gives: its result's fields, and what it cost. */
export type JobResult = Record<string, unknown> & { usage: Usage };

/** Answered at once, without steps. */
export type Question =
  | { ask: 'countTokens'; text: string }
  | { ask: 'readTranscript'; file: string | Uint8Array; fileName: string | undefined };

export type Request =
  | { type: 'open'; id: number; protocol: number; open: OpenRequest }
  | { type: 'run'; id: number; request: JobRequest; timeoutMs: number; tokens: boolean; progress: boolean }
  | { type: 'ask'; id: number; question: Question }
  /** Of a `run` or an `ask`: queued or running, it ends. */
  | { type: 'cancel'; id: number }
  /** Asks for a `pong`, where the lock cannot tell whether the worker lives. */
  | { type: 'ping' }
  /** Answers `pull`: the stream's next piece, null at its end. */
  | { type: 'chunk'; chunk: Uint8Array | null }
  | { type: 'chunk-failed'; error: WireError };

export type Response =
  /** The first message: `lock` is held as long as the worker lives; null where there are no Web Locks. */
  | { type: 'alive'; lock: string | null }
  | { type: 'return'; id: number; value: unknown }
  | { type: 'throw'; id: number; error: WireError }
  | { type: 'load-progress'; progress: LoadProgress }
  | { type: 'progress'; id: number; progress: CallProgress }
  | { type: 'token'; id: number; text: string }
  | { type: 'pong' }
  /** Asks for the next piece of the client's stream. */
  | { type: 'pull' }
  /** The wasm module has trapped: nothing more will come, the worker is to be replaced. */
  | { type: 'crashed'; error: WireError };

