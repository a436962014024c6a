// The public interface, written once. The engine in this thread and the one behind a worker both implement it.
// All text offsets are UTF-16 code units of the string that the caller passed, as JavaScript counts them.

/**
 * Where a model comes from. A URL, a File or a buffer can be read again, so an engine made from one survives the
 * crash of its worker; a stream can be read once only.
 */
export type ModelSource =
  /** A URL; in Node (`fairhand/local`) also a path, absolute or from the working directory, or a `file:` URL. */
  | string
  | URL
  | RemoteModel
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  /** The files of a split model, in order. The address of one named `…-00001-of-00003.gguf` stands for all of them. */
  | readonly (string | URL | RemoteModel | Blob)[];

/** A model behind a URL, with what `fetch` should send for it. */
export interface RemoteModel {
  url: string | URL;
  /** Bytes, for progress where the server does not say. */
  size?: number;
  /** The file's SHA-256 in hex. Anything else is refused, and the model is found in the cache whatever its address. */
  sha256?: string;
  init?: Pick<RequestInit, 'headers' | 'credentials' | 'cache' | 'integrity' | 'mode' | 'referrerPolicy'>;
}

export interface LoadProgress {
  /**
   * `download`: bytes arriving; `parse`, `weights`: bytes of a local file taken in; `wait`: another load, perhaps in
   * another tab, is fetching the same model, and this one will use it.
   */
  phase: 'wait' | 'download' | 'parse' | 'weights';
  loaded: number;
  /** Bytes in all; null while unknown. */
  total: number | null;
  /** Whether the model had been kept by an earlier load. */
  fromCache: boolean;
  /** Bytes that an earlier load had fetched before it was interrupted. */
  resumedFrom: number;
  /** Of the network, over the last seconds; null while there is nothing to tell. */
  bytesPerSecond: number | null;
}

/** Where a loaded model came from and where it is kept. */
export interface StorageReport {
  /** `opfs`: the origin's private file system; `none`: in memory, for this visit alone. */
  kept: 'opfs' | 'cache-api' | 'disk' | 'none';
  fromCache: boolean;
  resumedFrom: number;
  /** Of all its bytes, in hex; absent for what came from no URL. */
  sha256?: string;
  /** Why it is not kept though it was to be, in a sentence. */
  notice?: string;
}

export interface CleanerOptions {
  signal?: AbortSignal;
  /**
   * The wasm module, or where to get it; by default the one of the package's two that suits the browser. Whether it is the
   * one with threads shows in itself.
   */
  wasm?: string | URL | ArrayBuffer | WebAssembly.Module;
  /** The worker's script, or a function that starts one; by default the file that travels with this package. */
  worker?: string | URL | (() => Worker);
}

export type KvCacheType = 'f32' | 'f16' | 'q8_0';

export interface LoadOptions extends CleanerOptions {
  onProgress?: (progress: LoadProgress) => void;
  /** Tokens of context to make room for; by default what the model was trained with, up to a limit of the build. */
  contextSize?: number;
  /**
   * How what is remembered of each token is stored: `f32`, `f16` (default) or `q8_0`, of 4, 2 and 1⅛ bytes a number. With
   * SmolLM2-135M a token takes 45, 22.5 and 12.7 KiB. Fewer bytes make a long context smaller, and answers a little less exact.
   */
  kvCache?: KvCacheType;
  /**
   * Threads that compute, where the page is cross-origin isolated and the engine is in a worker; elsewhere there is one.
   * By default as many as the processor has, and 4 at most. The answers are the same with any number.
   */
  threads?: number;
  /** The seed of every call that names none. */
  seed?: number;
  /** Whether a model from a URL is kept in this origin's storage for the next visit; default true. */
  cache?: boolean;
  /** Calls at work at a time, 1 or more; the others wait their turn. Default 1: one model is not faster for two callers. */
  concurrency?: number;
  /** The reasoning setting of every call that says nothing of its own, as {@link ModelCallOptions.reasoning}. */
  reasoning?: string | null;
  /** Is told of every call that may run the model, with its prompts and answers; see {@link Recorder}. */
  recorder?: Recorder;
  /** Where answers are kept, so that the same call need not be worked out twice; see {@link AnswerCache}. */
  answers?: AnswerCache;
}

/** How far a call has come, where a phase has a known end. */
export interface CallProgress {
  /**
   * `prefill`: reading the prompt, in tokens; `decode`: writing, in tokens; `rules`: cleaning, in bytes; `judge`: the model is
   * asked what the rules of a cleanup leave open, in bytes of the text.
   */
  phase: 'prefill' | 'decode' | 'rules' | 'judge';
  done: number;
  total: number;
}

/** What every call takes. */
export interface CallOptions {
  /**
   * Cancels the call, queued or running. It rejects with `aborted`, whatever made the signal fire; for an
   * `AbortSignal.timeout` the error's `name` is `TimeoutError`.
   */
  signal?: AbortSignal;
  onProgress?: (progress: CallProgress) => void;
  /**
   * Limit of the work itself in milliseconds, waiting in the queue not counted; beyond it the call rejects with `timeout`.
   * 0: no limit, not even the profile's. It takes nothing from `signal`.
   */
  timeoutMs?: number;
  /** `interactive` (default): somebody waits for it, so it goes before `background`, which still gets its turn in time. */
  priority?: Priority;
}

/** Who waits for an answer. Background work that has waited ten seconds counts as if somebody had asked for it then. */
export type Priority = 'interactive' | 'background';

/** What every call that may run the model takes. */
export interface ModelCallOptions extends CallOptions {
  /** Hears each piece of text as the model writes it. */
  onToken?: (text: string) => void;
  maxTokens?: number;
  seed?: number;
  /** A profile by its name. Its settings hold where the call has none of its own. */
  profile?: string;
  /** The caller's own name for a series of calls; it comes back in the provenance, so it should not be a secret. */
  session?: string;
  /**
   * For models that can think before they answer: `none` turns it off, any other text on. Absent: the profile's setting; null:
   * the model's own habit, whatever the profile says.
   */
  reasoning?: string | null;
  /**
   * How often the whole question is asked again, with the next seed, when its answer cannot be used; 20 at most. Absent: as
   * the task has it, which is 0 but for steps.
   */
  retries?: number;
  /**
   * How often, within each of those, the model is shown an answer that cannot be used and asked for a better one; 20 at most.
   * Default 0. A prompt that is a plain text is not repaired: it has no conversation to go on with.
   */
  repairs?: number;
}

/** What a call cost. Times in milliseconds. */
export interface Usage {
  promptTokens: number;
  /** Prompt tokens that an earlier call had read. */
  cachedTokens: number;
  /** Tokens of the answer, forced ones included. */
  completionTokens: number;
  /** Tokens that the grammar dictated, so that the model was not asked. */
  forcedTokens: number;
  /** Time in this engine's queue. */
  queueMs: number;
  /** Time of the work, without the queue. */
  totalMs: number;
  /** Time from the start of the work to the model's first text; absent when the model wrote none. */
  ttftMs?: number;
}

/** Where an answer comes from: identities, never contents. With the same ones it comes out the same. */
export interface Provenance {
  provider: string;
  /** The name that the model's file gives itself; absent when rules answered. */
  model?: string;
  /** Of the model file's bytes. */
  modelDigest?: string;
  prompt?: PromptIdentity;
  profile?: string;
  /** As the caller named it. */
  session?: string;
  /** The inputs of a registered prompt, with where the caller says that they are from. */
  inputs?: { name: string; origin?: string }[];
  /** How many of the call's examples were shown to the model: there is room for some 500 tokens of them. */
  examples?: number;
  grammarDigest?: string;
  versions: Versions;
  /** The answer was not worked out now: it is the host's {@link AnswerCache}'s. */
  cached?: true;
}

export interface PromptIdentity {
  id: string;
  version: number;
  digest: string;
}

/** The versions of what shapes an output. */
export interface Versions {
  crate: string;
  rules: string;
  /** By prompt id. */
  prompts: Record<string, number>;
}

export type EditKind =
  | 'filler'
  | 'repeat'
  | 'fragment'
  | 'correction'
  | 'discourse'
  | 'spokenMark'
  | 'mark'
  | 'case'
  | 'number'
  | 'dictionary'
  | 'layout'
  | 'noise'
  | (string & {}); // new kinds may come

export interface Edit {
  /** Range of the raw text; an insertion has `start === end`. */
  start: number;
  end: number;
  original: string;
  replacement: string;
  kind: EditKind;
  /** 0 to 1. */
  confidence: number;
  /** Who decided: `rules`, later also the model. */
  by: string;
}

/** `verbatim` keeps every word; `light` drops fillers and stutters; `clean` also what the speaker took back. */
export type Level = 'verbatim' | 'light' | 'clean';
export type Preset = 'default' | 'email' | 'notes' | 'code';

export interface CleanupOptions extends ModelCallOptions {
  /** How much may be changed; default `clean`. */
  level?: Level;
  /**
   * What the text is for; default `default`. `email` sets a greeting and a closing that were spoken on lines of their own,
   * `notes` sets a sentence a line, `code` keeps the case and sets no final marks.
   */
  preset?: Preset;
  /** Spellings to use and never to delete. */
  dictionary?: readonly string[];
  /** BCP 47 tag of the spoken language; when absent, the text's own words tell. */
  language?: string;
  /**
   * `choose` (default): rules propose, and the model, where one is loaded, chooses where they are not sure; nothing is
   * invented. It reads 4,096 tokens at most, about 1,500 words' worth, or `maxTokens`; what it has not been asked then, or
   * when `timeoutMs` is over, is as the rules have it, and `fallback` is `unfinished`. `rules`: rules alone, at once, whatever
   * is loaded. `rewrite`: the model writes freely; needs a model.
   */
  mode?: 'choose' | 'rules' | 'rewrite';
}

export interface CleanupResult {
  text: string;
  /** In order, none overlapping: applied to the raw text they give `text`. */
  edits: Edit[];
  /** Why the rules' answer stands in for the model's, or for a part of it, if it does. */
  fallback?: 'invented-words' | 'lost-words' | 'unfinished';
  provenance: Provenance;
  usage: Usage;
}

/** A judged answer of the past, to show the model the caller's style. */
export interface Example {
  input: string;
  originalOutput?: string;
  correctedOutput?: string;
}

export interface StepsOptions extends ModelCallOptions {
  examples?: readonly Example[];
  /** `grounded` (default): the best of a few tries, or `invalid-structured-output` if none is usable. `free`: one answer. */
  strategy?: Strategy;
}

/**
 * `grounded` (default): rules propose in the speaker's own words, and the model chooses where they are not sure.
 * `free`: the model answers freely in the right shape; for larger models.
 */
export type Strategy = 'grounded' | 'free';

export interface TasksOptions extends ModelCallOptions {
  examples?: readonly Example[];
  strategy?: Strategy;
}

export interface TagOptions extends ModelCallOptions {
  strategy?: Strategy;
  /** Intents to tell apart in place of the six; two to sixteen. */
  intents?: readonly IntentClass[];
  /** Topics to choose from in place of the note's own words. */
  topics?: readonly string[];
}

/** A kind of note that is told apart from the others by how well it explains a note. */
export interface IntentClass {
  name: string;
  /** What such a note is, as in "Here is …": "a report of something that does not work". */
  description: string;
  /** Notes of the kind; four are plenty. */
  examples?: readonly string[];
}

/** Something that the speaker took on. */
export interface TaskItem {
  text: string;
  /** Where the speaker said so: a range of the raw text; absent for what the model wrote freely. */
  start?: number;
  end?: number;
  /** How sure the rules are, 0 to 1. */
  confidence?: number;
  /** Who decided: `rules` or `model`. */
  by: string;
}

/** What every structured answer carries beside its reading. */
export interface StructuredResult {
  /** The answer as it was generated. */
  raw: string;
  /** Whether the token budget shaped the end of the answer. */
  truncated: boolean;
  /** How often the model was asked for it; 0 where rules answered. */
  attempts: number;
  provenance: Provenance;
  usage: Usage;
}

export interface TasksResult extends StructuredResult {
  tasks: TaskItem[];
}

export interface StepsResult extends StructuredResult {
  steps: string[];
}

export type Intent = 'planning' | 'reflection' | 'venting' | 'capture' | 'decision' | 'question';

export interface TagResult extends StructuredResult {
  /** One to three lower-case words joined by hyphens, or one of the caller's; `untitled` where no word names anything. */
  topic: string;
  /** The name of one of the caller's intents where it gave some. */
  intent: Intent | (string & {});
  /** How sure both are, 0 to 1; absent with the strategy `free`. */
  confidence?: { intent: number; topic: number };
}

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface Sampling {
  /** 0: always the likeliest token. */
  temperature?: number;
  topK?: number;
  topP?: number;
}

export interface CompleteOptions<T = undefined> extends ModelCallOptions {
  sampling?: Sampling;
  /** Texts that end the answer; they are not part of it. */
  stop?: readonly string[];
  /**
   * Reads the validated answer; what it returns is the result's `value`. An answer for which it throws cannot be used: the
   * call's `retries` count for it, and the last one is on the error, `invalid-structured-output`.
   */
  decode?: (raw: string) => T;
}

/** What an answer is held to: at most one of the three. */
export interface AnswerForm {
  /** A GBNF grammar. */
  grammar?: string;
  /** A JSON Schema. */
  schema?: unknown;
  /** A regular expression that the whole answer matches. */
  regex?: string;
}

/** What is asked: a registered prompt with material in its places, chat messages, or a text as it stands. */
export type CompleteRequest<T = undefined> = CompleteOptions<T> & (PromptRequest | (AnswerForm & ({ messages: readonly Message[] } | { prompt: string })));

/** A request by the name of a prompt that {@link Engine.registerPrompt} has added. */
export interface PromptRequest {
  /** The newest version, if none is named. */
  prompt: { id: string; version?: number };
  /** The material. */
  inputs?: readonly PromptInput[];
  /** Settings of a few words. */
  variables?: Readonly<Record<string, string>>;
}

export interface PromptInput {
  name: string;
  /** An empty one stays in the prompt as a blank. */
  text: string;
  /** Where the text is from, in the caller's terms; it comes back in the provenance and goes nowhere else. */
  origin?: string;
}

/** A prompt for requests to name. Its text is settled once: a change is a new version. */
export interface PromptDefinition {
  id: string;
  /** From 1 on. */
  version: number;
  /**
   * Shared context first, then the material, then what follows it: what stands before the first input is read once and kept.
   * `{{name}}` is the place of an input or a variable.
   */
  messages: readonly Message[];
  inputs?: readonly { name: string; optional?: boolean }[];
  variables?: readonly string[];
  /** What answers are held to; without it they are free text. */
  output?: AnswerForm;
  /** The profile of requests that name none. */
  profile?: string;
}

/** Who answers, how to generate, and within which limits, under a name. What is absent is left to the call and the task. */
export interface Profile {
  name: string;
  /**
   * Another model than the engine's first, or one more description of a model that a profile already has.
   * {@link Engine.prepare} loads it; it is not fetched before.
   */
  model?: Exclude<ModelSource, ReadableStream<Uint8Array>>;
  maxTokens?: number;
  sampling?: Sampling;
  retries?: number;
  repairs?: number;
  timeoutMs?: number;
  reasoning?: string;
}

export interface PrepareOptions {
  signal?: AbortSignal;
  onProgress?: (progress: LoadProgress) => void;
}

export interface CompleteResult<T = undefined> {
  /** The answer as it was generated. */
  text: string;
  /** What the request's `decode` made of it. */
  value: T;
  /** `end`: the model or the grammar ended it; `stop`: a stop text came up; `length`: `maxTokens` was reached. */
  finishReason: 'end' | 'stop' | 'length';
  truncated: boolean;
  /** How often the model was asked for it. */
  attempts: number;
  provenance: Provenance;
  usage: Usage;
}

/**
 * Keeps answers for the host, under a key that says nothing of what was asked. The same fingerprint and input have the same
 * answer, so the stored one is given, and its provenance says `cached`. A cache that fails is passed by: the call is worked out.
 */
export interface AnswerCache {
  get(key: AnswerKey): string | undefined | PromiseLike<string | undefined>;
  /** The answer is JSON and holds the user's text. */
  set(key: AnswerKey, answer: string): void | PromiseLike<void>;
}

export interface AnswerKey {
  /** Of everything that shapes answers: {@link Engine.fingerprint}. */
  fingerprint: string;
  /** A SHA-256 of the request, in hex. */
  input: string;
}

/**
 * Hears of every call when it has ended, well or not. It gets the user's text, so there is none unless the host gives one. When it
 * throws or rejects, a call that went well fails with `callback-failed`; one that failed keeps its own error.
 */
export type Recorder = (record: CallRecord) => void | PromiseLike<void>;

export interface CallRecord {
  /** Of this call alone. */
  callId: string;
  task: string;
  /** Of the call or, once it has been answered, of its prompt. */
  profile?: string;
  session?: string;
  /** The name that the file of the model gives itself; absent where none was asked. */
  model?: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** With the time in the queue. */
  totalMs: number;
  /**
   * What the model was asked and what it wrote, in order; empty where rules answered, and where a worker was cancelled or crashed
   * before it could tell.
   */
  attempts: Attempt[];
  provenance?: Provenance;
  usage?: Usage;
  /** Why there is no result. */
  error?: { code: string; message: string };
}

export interface Attempt {
  /** `retry`: the whole question with the next seed; `repair`: after a look at the last answer; `weigh`: nothing was to be written. */
  kind: 'first' | 'retry' | 'repair' | 'weigh';
  prompt: { messages: Message[] } | { text: string };
  seed: number;
  /** What was written, to the end or until something ended it. */
  response: string;
  /** The code of the error that ended it, or for which it was not used. */
  error?: string;
  /** Milliseconds after the beginning of the work. */
  startedMs: number;
  endedMs: number;
}

/** An answer in the making: await it for the whole, iterate over it for the pieces. Leaving the loop cancels. */
export interface Completion<T = undefined> extends PromiseLike<CompleteResult<T>>, AsyncIterable<string> {}

export interface TranscriptSegment {
  /** Range of the transcript's text. */
  start: number;
  end: number;
  /** Seconds from the beginning; null where the file has no times. */
  startTime: number | null;
  endTime: number | null;
  speaker: string | null;
  /** Its words, where the file times them. */
  words?: { start: number; end: number; startTime: number | null; endTime: number | null }[];
}

export interface Transcript {
  text: string;
  segments: TranscriptSegment[];
  /** What the file holds that is not in the text, or stands there otherwise. */
  notices: TranscriptNotice[];
}

/** Something in a transcript's file that is not in its text, or stands there otherwise. */
export interface TranscriptNotice {
  /** Counts from 1; absent where the format has no lines. */
  line?: number;
  /**
   * Left out: `comment`, `style`, `emptyCue`, `interim` (said before the recogniser was sure), `repeatedLine` (of a rolling caption),
   * `segmentsDisagree` (with the file's own text, which was taken, without times). Put right: `unreadableTime` (left open),
   * `outsideCue` (text of no cue, kept without times), `repairedText` (half a character reads as U+FFFD), `legacyEncoding` (no
   * Unicode, read as windows-1252).
   */
  kind: 'comment' | 'style' | 'emptyCue' | 'interim' | 'repeatedLine' | 'segmentsDisagree' | 'unreadableTime' | 'outsideCue' | 'repairedText' | 'legacyEncoding' | (string & {});
}

/** What works without a model: rules clean, transcripts are read. */
export interface Cleaner {
  cleanup(text: string, options?: CleanupOptions): Promise<CleanupResult>;
  /** Reads plain text, SRT, WebVTT or a speech recogniser's JSON, in whatever encoding; the file's name is a hint. */
  readTranscript(file: string | ArrayBuffer | Uint8Array, fileName?: string): Promise<Transcript>;
  /** Gives the memory back. Pending calls reject with `disposed`. */
  dispose(): Promise<void>;
  readonly info: EngineInfo;
}

/** A loaded model, and all that a {@link Cleaner} does. */
export interface Engine extends Cleaner {
  /** What the speaker promised to do. */
  extractTasks(text: string, options?: TasksOptions): Promise<TasksResult>;
  /** Three to seven small steps towards a task. */
  decomposeTask(task: string, options?: StepsOptions): Promise<StepsResult>;
  /** One topic and one intent. */
  tagContent(text: string, options?: TagOptions): Promise<TagResult>;
  /** The free form beneath them: an answer to a prompt of the caller's. */
  complete<T = undefined>(request: CompleteRequest<T>): Completion<T>;
  countTokens(text: string, options?: CallOptions): Promise<number>;
  /**
   * Adds a prompt for requests to name.
   * @throws FairhandError `invalid-argument` for one that is there already or cannot be filled; `invalid-grammar`, `invalid-schema`
   */
  registerPrompt(definition: PromptDefinition): Promise<PromptIdentity>;
  /** Adds a profile for calls and prompts to name. @throws FairhandError `invalid-argument` */
  registerProfile(profile: Profile): Promise<void>;
  /**
   * Makes sure that every one of the profiles is there, and loads the models that they need. An unknown name fails before
   * anything is loaded.
   * @throws FairhandError `invalid-argument`, and as a load does
   */
  prepare(profiles: readonly string[], options?: PrepareOptions): Promise<void>;
  /**
   * A name for everything that shapes an answer: models, prompts, grammars, profiles and rules. It changes when any of them
   * does and holds none of their contents, so a host may key a cache with it.
   */
  fingerprint(): Promise<string>;
  /**
   * What the first model has read of prompts' beginnings, so that the next visit need not read them again: some megabytes
   * each. It holds prompts and intents, and nothing of any material or example of feedback.
   */
  exportPrefixes(): Promise<Uint8Array>;
  /**
   * Takes in what an earlier visit has exported, and says how many prefixes are there now that were not.
   * @throws FairhandError `invalid-argument` for bytes that are damaged, or of another model or version of this package
   */
  importPrefixes(bytes: Uint8Array): Promise<number>;
}

/** What is loaded and how it runs. */
export interface EngineInfo {
  /** Whether the engine sits behind a worker. */
  worker: boolean;
  /** Which wasm module runs: `threads` has relaxed SIMD and can have several threads, `simd` is for every browser. */
  variant: 'simd' | 'threads';
  /** Threads that compute. */
  threads: number;
  versions: Versions;
  /** Absent for a {@link Cleaner}. */
  model?: {
    /** The name that the file gives itself. */
    name: string | null;
    /** Of the file's bytes. */
    digest: string;
    architecture: string;
    layers: number;
    vocabulary: number;
    weightBytes: number;
  };
  /** Where the model came from and where it is kept. Absent for a {@link Cleaner}. */
  storage?: StorageReport;
  /** The most tokens that prompt and answer may have together. Absent for a {@link Cleaner}. */
  contextSize?: number;
}

export interface Capabilities {
  simd: boolean;
  relaxedSimd: boolean;
  threads: boolean;
  crossOriginIsolated: boolean;
  opfs: boolean;
  /** The most memory that a wasm module can address here. */
  maxMemoryBytes: number;
  /** A sentence for each power that is missing. */
  reasons: string[];
}

/** A model that this origin keeps, or a part of one. */
export interface CachedModel {
  key: string;
  /** Where it came from, without query or credentials. */
  url: string;
  /** Bytes in all; absent when a part's server did not say. */
  size?: number;
  /** Bytes that are here. */
  loaded: number;
  /** Whether all of it is here; if not, the next load goes on where the last one stopped. */
  complete: boolean;
  /** Absent for a part. */
  sha256?: string;
  /** Milliseconds since 1970; absent for a part. */
  storedAt?: number;
}

export interface CacheEstimate {
  kind: 'opfs' | 'cache-api' | 'disk' | 'none';
  /** What the browser would still give this origin; null where it does not say. */
  availableBytes: number | null;
  usedBytes: number | null;
  /** Whether the browser promises not to clear this origin's storage by itself. */
  persisted: boolean;
  /** Why nothing can be kept here, in a sentence. */
  notice?: string;
}

/** The models that this origin keeps. Nothing here touches the network but `add`. */
export interface ModelCache {
  list(): Promise<CachedModel[]>;
  has(model: string | URL | RemoteModel | { key: string }): Promise<boolean>;
  /** Fetches a model without loading it. @throws FairhandError as a load does, and `storage-quota` */
  add(
    model: string | URL | RemoteModel,
    options?: { signal?: AbortSignal; onProgress?: (progress: LoadProgress) => void },
  ): Promise<CachedModel>;
  /** Reads a kept model and compares it with the digest that it had when it came. @throws FairhandError `invalid-argument` */
  verify(model: string | URL | RemoteModel | { key: string }): Promise<boolean>;
  /** Whether there was one. */
  delete(model: string | URL | RemoteModel | { key: string }): Promise<boolean>;
  clear(): Promise<void>;
  estimate(): Promise<CacheEstimate>;
  /** Asks the browser not to clear this origin's storage by itself. */
  persist(): Promise<boolean>;
}
