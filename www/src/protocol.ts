// What crosses between the client and its worker. Both unions are closed: every request that carries an id is answered
// by exactly one `return` or `throw` with that id, and the compiler checks that every kind is handled.
import type { WireError } from './errors.js';
import type {
  AnswerForm,
  Attempt,
  CallProgress,
  Example,
  KvCacheType,
  Level,
  LoadProgress,
  Message,
  ModelCallOptions,
  Preset,
  Priority,
  Profile,
  PromptDefinition,
  PromptInput,
  Provenance,
  RemoteModel,
  Sampling,
  Strategy,
  TagOptions,
  Usage,
} from './types.js';

/** Both sides send it at the start: a worker script of another build is refused, not misunderstood. */
export const PROTOCOL = 3;

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
  kvCache: KvCacheType | undefined;
  cache: boolean | undefined;
  concurrency: number | undefined;
}

/** Work for the wasm module, as it takes it. */
export type JobRequest = (
  | {
      task: 'cleanup';
      text: string;
      mode: 'choose' | 'rules' | 'rewrite';
      options: { level?: Level; preset?: Preset; dictionary?: readonly string[]; language?: string };
    }
  | { task: 'extractTasks'; text: string; examples: readonly Example[]; strategy: Strategy }
  | { task: 'decomposeTask'; text: string; examples: readonly Example[]; strategy: Strategy }
  | { task: 'tagContent'; text: string; strategy: Strategy; options: Pick<TagOptions, 'intents' | 'topics'> }
  | {
      task: 'prompt';
      id: string;
      version?: number;
      inputs: readonly PromptInput[];
      variables: Readonly<Record<string, string>>;
      stop?: readonly string[];
    }
  | ({ task: 'complete'; messages?: readonly Message[]; prompt?: string; stop?: readonly string[] } & AnswerForm)
) &
  Pick<ModelCallOptions, 'maxTokens' | 'seed' | 'profile' | 'session' | 'reasoning' | 'retries' | 'repairs' | 'timeoutMs'> & {
    sampling?: Sampling;
    /** Whether the job keeps its attempts. */
    record?: boolean;
  };

/** What a job gives: its result's fields, and what it cost. */
export type JobResult = Record<string, unknown> & { provenance: Provenance; usage: Usage };

/** Answered at once, without steps. */
export type Question =
  | { ask: 'countTokens'; text: string }
  | { ask: 'readTranscript'; file: string | Uint8Array; fileName: string | undefined }
  | { ask: 'registerPrompt'; definition: PromptDefinition }
  /** `model`: the name under which its model is added. */
  | { ask: 'registerProfile'; profile: Omit<Profile, 'model'> & { model?: string } }
  | { ask: 'prepare'; profiles: readonly string[] }
  | { ask: 'fingerprint' }
  | { ask: 'prefixes' }
  | { ask: 'takePrefixes'; bytes: Uint8Array };

export type Request =
  | { type: 'open'; id: number; protocol: number; open: OpenRequest }
  | { type: 'run'; id: number; request: JobRequest; priority: Priority; tokens: boolean; progress: boolean; attempts: boolean }
  | { type: 'ask'; id: number; question: Question }
  /** One more model, for profiles. */
  | { type: 'add'; id: number; name: string; source: WireSource }
  /** Of a `run`, an `ask` or an `add`: queued or running, it ends. */
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
  /** Of an `open` or an `add`. */
  | { type: 'load-progress'; id: number; progress: LoadProgress }
  | { type: 'progress'; id: number; progress: CallProgress }
  | { type: 'token'; id: number; text: string }
  /** Before the answer to a `run` that wants them. */
  | { type: 'attempts'; id: number; attempts: Attempt[] }
  | { type: 'pong' }
  /** Asks for the next piece of the client's stream. */
  | { type: 'pull' }
  /** The wasm module has trapped: nothing more will come, the worker is to be replaced. */
  | { type: 'crashed'; error: WireError };

