// The engine behind a worker: the page's thread stays free, and a crash costs a reload and not the page.
import { onAbort } from './abort.js';
import type { Backend, RunOptions } from './backend.js';
import { abortError, disposed, FairhandError, fromWire, throwIfAborted, toWire, type WireError } from './errors.js';
import {
  PROTOCOL,
  type JobRequest,
  type JobResult,
  type OpenRequest,
  type Question,
  type Request,
  type Response,
  type WireSource,
} from './protocol.js';
import { checkedHeaders, parsed } from './cache/request.js';
import type { Attempt, CallProgress, CleanerOptions, EngineInfo, LoadOptions, LoadProgress, ModelSource, PrepareOptions, RemoteModel } from './types.js';

/** How long a worker that lives may leave a `ping` unanswered: longer than the longest step of a slow machine. */
const PONG_MS = 5000;

/** Keeps a worker, and replaces it when it crashes. */
export class RemoteBackend implements Backend {
  #info: EngineInfo;
  #connection: Promise<Connection> | undefined;
  readonly #reopen: ((signal: AbortSignal) => Promise<Connection>) | undefined;
  readonly #disposal = new AbortController();
  /** What has been registered and added, in order: a new worker has to be told. */
  readonly #settings: ((connection: Connection) => Promise<unknown>)[] = [];

  private constructor(connection: Connection, reopen: ((signal: AbortSignal) => Promise<Connection>) | undefined) {
    this.#info = connection.info;
    this.#reopen = reopen;
    this.#adopt(Promise.resolve(connection));
  }

  /** @param source the model; undefined for an engine of rules alone */
  static async open(source: ModelSource | undefined, options: LoadOptions): Promise<RemoteBackend> {
    const { signal, onProgress } = options;
    const { wire, stream } = await toWireSource(source);
    const { threads, contextSize, kvCache, cache, concurrency } = options;
    const open: OpenRequest = { source: wire, wasm: wireWasm(options.wasm), threads, contextSize, kvCache, cache, concurrency };
    const connection = await Connection.open(open, { worker: options.worker, signal, onProgress, stream });
    // The caller's signal was for the first load only.
    const reopen = (again: AbortSignal) => Connection.open(open, { worker: options.worker, onProgress, signal: again });
    return new RemoteBackend(connection, stream ? undefined : reopen);
  }

  get info(): EngineInfo {
    return this.#info;
  }

  async run(request: JobRequest, options: RunOptions): Promise<JobResult> {
    return (await this.#connected(options.signal)).run(request, options);
  }

  async ask(question: Question, signal: AbortSignal | undefined): Promise<unknown> {
    const answer = await (await this.#connected(signal)).ask(question, signal);
    if (question.ask === 'registerPrompt' || question.ask === 'registerProfile') {
      this.#settings.push((connection) => connection.ask(question, undefined));
    }
    return answer;
  }

  async addModel(name: string, source: ModelSource, options: PrepareOptions): Promise<void> {
    const { wire } = await toWireSource(source);
    await (await this.#connected(options.signal)).addModel(name, wire, options);
    this.#settings.push((connection) => connection.addModel(name, wire, {}));
  }

  async dispose(): Promise<void> {
    if (this.#disposal.signal.aborted) return;
    this.#disposal.abort(disposed());
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close(disposed());
  }

  /** The live worker; after a crash a new one, which every call that waits for it shares. */
  async #connected(signal: AbortSignal | undefined): Promise<Connection> {
    throwIfAborted(this.#disposal.signal);
    throwIfAborted(signal);
    if (!this.#connection) {
      if (!this.#reopen) throw crashed('The worker has stopped, and a stream cannot be read again: load the model anew.', false);
      this.#adopt(this.#reopen(this.#disposal.signal).then((connection) => this.#restored(connection)));
    }
    return abortable(this.#connection!, signal);
  }

  /** Tells a new worker what the one before it knew. */
  async #restored(connection: Connection): Promise<Connection> {
    try {
      for (const set of this.#settings) await set(connection);
      return connection;
    } catch (error) {
      connection.close(error as FairhandError);
      throw error;
    }
  }

  #adopt(opening: Promise<Connection>): void {
    this.#connection = opening;
    const forget = () => {
      if (this.#connection === opening) this.#connection = undefined;
    };
    opening.then((connection) => {
      this.#info = connection.info;
      void connection.closed.then(forget);
    }, forget);
  }
}

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  onToken: ((text: string) => void) | undefined;
  onProgress: ((progress: CallProgress) => void) | undefined;
  onAttempts: ((attempts: Attempt[]) => void) | undefined;
  onLoadProgress: ((progress: LoadProgress) => void) | undefined;
}

/** Who listens to a request. */
type Listeners = RunOptions & { onLoadProgress?: ((progress: LoadProgress) => void) | undefined };

interface ConnectionOptions {
  worker: CleanerOptions['worker'];
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LoadProgress) => void) | undefined;
  stream?: ReadableStream<Uint8Array> | undefined;
}

/** One worker's life, from its start to its end. */
class Connection {
  /** Resolves when the worker is gone, however it went. */
  readonly closed: Promise<void>;
  /** What the worker said of itself; there once it is open. */
  info!: EngineInfo;
  #end: FairhandError | undefined;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #watch = new AbortController();
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #settleClosed = () => {};
  #onPong = () => {};
  #nextId = 0;

  private constructor({ worker, stream }: ConnectionOptions) {
    this.closed = new Promise((resolve) => (this.#settleClosed = resolve));
    this.#reader = stream?.getReader();
    this.#worker = startWorker(worker);
    this.#worker.onmessage = ({ data }: MessageEvent<Response>) => this.#receive(data);
    this.#worker.onerror = (event) => {
      event.preventDefault(); // it is reported to the callers
      this.close(crashed('The worker has stopped, or its script could not be loaded.', true));
    };
    this.#worker.onmessageerror = () => this.close(crashed('A message of the worker could not be read.', true));
  }

  static async open(open: OpenRequest, options: ConnectionOptions): Promise<Connection> {
    const { signal } = options;
    throwIfAborted(signal);
    const connection = new Connection(options);
    const ignore = onAbort(signal, () => connection.close(abortError(signal!)));
    try {
      const listeners = { onLoadProgress: options.onProgress };
      const info = await connection.#request((id) => ({ type: 'open', id, protocol: PROTOCOL, open }), listeners);
      connection.info = info as EngineInfo;
      return connection;
    } catch (error) {
      connection.close(error as FairhandError);
      throw error;
    } finally {
      ignore();
    }
  }

  run(request: JobRequest, options: RunOptions): Promise<JobResult> {
    const { priority = 'interactive', onToken, onProgress, onAttempts } = options;
    const [tokens, progress, attempts] = [onToken, onProgress, onAttempts].map((listener) => listener !== undefined) as [boolean, boolean, boolean];
    return this.#request((id) => ({ type: 'run', id, request, priority, tokens, progress, attempts }), options) as Promise<JobResult>;
  }

  async addModel(name: string, source: WireSource, { signal, onProgress }: PrepareOptions): Promise<void> {
    await this.#request((id) => ({ type: 'add', id, name, source }), { signal, onLoadProgress: onProgress });
  }

  ask(question: Question, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#request((id) => ({ type: 'ask', id, question }), { signal });
  }

  /** Ends the worker; what is pending rejects with `reason`. */
  close(reason: FairhandError): void {
    if (this.#end) return;
    this.#end = reason;
    this.#watch.abort();
    this.#worker.terminate();
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    void this.#reader?.cancel().catch(() => {});
    this.#settleClosed();
  }

  #request(message: (id: number) => Request, { signal, onToken, onProgress, onAttempts, onLoadProgress }: Listeners): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      const leave = onAbort(signal, () => {
        this.#post({ type: 'cancel', id });
        this.#settle(id)?.reject(abortError(signal!));
      });
      this.#pending.set(id, {
        resolve: (value) => (leave(), resolve(value)),
        reject: (error) => (leave(), reject(error)),
        onToken,
        onProgress,
        onAttempts,
        onLoadProgress,
      });
      try {
        this.#post(message(id));
      } catch (error) {
        // The browser's own message quotes what cannot be sent.
        const { name } = error as Error;
        this.#settle(id)?.reject(new FairhandError('invalid-argument', `The request holds something that cannot be sent to a worker (${name}).`));
      }
    });
  }

  #post(message: Request, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: Response): void {
    switch (message.type) {
      case 'alive':
        return void this.#watchOver(message.lock);
      case 'pong':
        return this.#onPong();
      case 'return':
        return this.#settle(message.id)?.resolve(message.value);
      case 'throw':
        return this.#settle(message.id)?.reject(fromWire(message.error));
      case 'load-progress':
        return this.#tell(message.id, (pending) => pending.onLoadProgress?.(message.progress));
      case 'token':
        return this.#tell(message.id, (pending) => pending.onToken?.(message.text));
      case 'progress':
        return this.#tell(message.id, (pending) => pending.onProgress?.(message.progress));
      case 'attempts':
        return this.#tell(message.id, (pending) => pending.onAttempts?.(message.attempts));
      case 'pull':
        return void this.#feed();
      case 'crashed':
        return this.close(crashed('The engine has stopped on an internal fault.', true, message.error));
      default:
        return message satisfies never;
    }
  }

  /** Takes a call off the list: its answer has come, or is no longer wanted. */
  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  /** Calls a caller's function. One that throws ends its call, and no other. */
  #tell(id: number, call: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    try {
      call(pending);
    } catch (error) {
      this.#post({ type: 'cancel', id });
      this.#settle(id)?.reject(error);
    }
  }

  /**
   * Ends the connection when the worker is gone. The worker holds a lock while it lives; but a browser that clears a
   * site's data drops its locks too, so a lock that falls free is a reason to ask, and not a proof.
   */
  async #watchOver(name: string | null): Promise<void> {
    const { signal } = this.#watch;
    if (name !== null) await navigator.locks.request(name, { signal }, () => {}).catch(() => {});
    for (let first = true; !signal.aborted; first = false) {
      // With a lock lost there is nothing to wait for but answers; without calls nobody waits.
      if (!first) await pause(PONG_MS, signal);
      if ((first || this.#pending.size > 0) && !signal.aborted && !(await this.#answers(name !== null && first))) {
        this.close(crashed('The worker has stopped.', true));
      }
    }
  }

  /** Whether the worker answers. `hurried`: its lock has fallen free, which mostly means that it does not. */
  async #answers(hurried: boolean): Promise<boolean> {
    const answer = new Promise<boolean>((resolve) => (this.#onPong = () => resolve(true)));
    this.#post({ type: 'ping' });
    return Promise.race([answer, pause(hurried ? PONG_MS / 5 : PONG_MS, this.#watch.signal).then(() => false)]);
  }

  /** Sends the stream's next piece. */
  async #feed(): Promise<void> {
    try {
      const { done, value } = await this.#reader!.read();
      if (done) return this.#post({ type: 'chunk', chunk: null });
      if (!(value instanceof Uint8Array)) {
        throw new FairhandError('invalid-argument', 'A stream of a model must give Uint8Array pieces.');
      }
      const chunk = value.slice(); // a copy of our own can be moved; the stream may still use its buffer
      this.#post({ type: 'chunk', chunk }, [chunk.buffer]);
    } catch (error) {
      const text = 'The model stopped arriving before its end.';
      const typed = error instanceof FairhandError ? error : new FairhandError('network', text, { retryable: true, cause: error });
      this.#post({ type: 'chunk-failed', error: toWire(typed) });
    }
  }
}

/** Waits for `promise`, or for the signal: what is waited for goes on for others. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let ignore = () => {};
  const aborted = new Promise<never>((_, reject) => (ignore = onAbort(signal, () => reject(abortError(signal)))));
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    ignore();
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const ignore = onAbort(signal, () => (clearTimeout(timer), resolve()));
    const timer = setTimeout(() => (ignore(), resolve()), milliseconds);
  });
}

function crashed(message: string, retryable: boolean, fault?: WireError): FairhandError {
  return new FairhandError('worker-crashed', message, { retryable, ...(fault && { cause: fromWire(fault) }) });
}

/** @throws FairhandError `unsupported-environment` where there are no workers, as in Node, before anything is asked of them */
export function checkWorker(worker: CleanerOptions['worker']): void {
  if (typeof worker !== 'function' && typeof Worker !== 'function') throw noWorker();
}

function noWorker(cause?: unknown): FairhandError {
  return new FairhandError('unsupported-environment', "A worker cannot be started here: 'fairhand/local' does without one.", { cause });
}

function startWorker(worker: CleanerOptions['worker']): Worker {
  if (typeof worker === 'function') return worker();
  try {
    // The literal form is the one that bundlers recognise.
    return worker === undefined
      ? new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
      : new Worker(worker, { type: 'module' });
  } catch (error) {
    throw noWorker(error);
  }
}

/**
 * URLs are made absolute here: the worker's own base is its script. Buffers become blobs: the browser keeps them
 * outside both threads' memory, and they can be read again after a crash.
 */
async function toWireSource(
  source: ModelSource | undefined,
): Promise<{ wire: WireSource; stream?: ReadableStream<Uint8Array> }> {
  if (source === undefined) return { wire: { kind: 'none' } };
  if (Array.isArray(source)) {
    const list = source as readonly (string | URL | RemoteModel | Blob)[];
    return { wire: { kind: 'shards', shards: list.map((shard) => (shard instanceof Blob ? shard : wireModel(shard))) } };
  }
  if (typeof source === 'string' || source instanceof URL) return { wire: { kind: 'remote', model: wireModel(source) } };
  if (source instanceof Blob) return { wire: { kind: 'blob', blob: source } };
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) {
    return { wire: { kind: 'blob', blob: new Blob([source as BlobPart]) } };
  }
  if (source instanceof ReadableStream) return { wire: { kind: 'stream' }, stream: source };
  if (typeof source === 'object' && source !== null && 'url' in source) {
    return { wire: { kind: 'remote', model: wireModel(source) } };
  }
  throw new FairhandError('invalid-argument', 'A model is a URL, a File, a Blob, a buffer or a stream of bytes.');
}

function wireModel(model: string | URL | RemoteModel): RemoteModel & { url: string } {
  const { url, init, ...rest } = typeof model === 'string' || model instanceof URL ? { url: model } as RemoteModel : model;
  const headers = init?.headers && { headers: [...checkedHeaders(init.headers)] as [string, string][] };
  return { ...rest, url: parsed(url).href, ...(init && { init: { ...init, ...headers } }) };
}

function wireWasm(wasm: CleanerOptions['wasm']): OpenRequest['wasm'] {
  return typeof wasm === 'string' || wasm instanceof URL ? parsed(wasm).href : wasm;
}
