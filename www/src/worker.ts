// The worker's script: hosts the local backend and answers every request by `return` or `throw`.
import { FairhandError, fromWire, toWire } from './errors.js';
import { LocalBackend } from './local.js';
import { fault } from './module.js';
import { PROTOCOL, type OpenRequest, type Request, type Response, type WireSource } from './protocol.js';
import type { LoadProgress, ModelSource } from './types.js';

// TypeScript knows this file's global scope as a window's.
const scope = globalThis as unknown as {
  postMessage(message: Response): void;
  onmessage: ((event: MessageEvent<Request>) => void) | null;
};
const post = (message: Response) => scope.postMessage(message);

let backend: LocalBackend | undefined;
/** Calls under way, by id. */
const cancels = new Map<number, AbortController>();
/** The answer to the `pull` under way. */
let pulled: { resolve: (chunk: Uint8Array | null) => void; reject: (error: FairhandError) => void } | undefined;

scope.onmessage = ({ data }) => {
  switch (data.type) {
    case 'open':
      return answer(data.id, () => open(data.id, data.protocol, data.open));
    case 'run':
      return answer(data.id, (signal) =>
        opened().run(data.request, {
          signal,
          priority: data.priority,
          onToken: data.tokens ? (text) => post({ type: 'token', id: data.id, text }) : undefined,
          onProgress: data.progress ? (progress) => post({ type: 'progress', id: data.id, progress }) : undefined,
          onAttempts: data.attempts ? (attempts) => post({ type: 'attempts', id: data.id, attempts }) : undefined,
        }),
      );
    case 'add':
      return answer(data.id, (signal) => opened().addModel(data.name, sourceOf(data.source), { signal, onProgress: progressOf(data.id) }));
    case 'ask':
      return answer(data.id, (signal) => opened().ask(data.question, signal));
    case 'cancel':
      return cancels.get(data.id)?.abort();
    case 'ping':
      return post({ type: 'pong' });
    case 'chunk':
      return pulled?.resolve(data.chunk);
    case 'chunk-failed':
      return pulled?.reject(fromWire(data.error));
    default:
      return data satisfies never;
  }
};

void announce();

/**
 * Tells the client that this worker lives, and of a lock that it holds until it dies: a worker that is killed sends
 * nothing, but its lock falls free.
 */
async function announce(): Promise<void> {
  const name = `fairhand-worker-${crypto.randomUUID?.() ?? Math.random()}`;
  const { locks } = navigator as { locks?: LockManager };
  if (!locks) return post({ type: 'alive', lock: null });
  await locks.request(name, () => {
    post({ type: 'alive', lock: name });
    return new Promise<never>(() => {});
  });
}

function answer(id: number, work: (signal: AbortSignal) => Promise<unknown>): void {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  // `then`, so that what `work` throws before its first await is answered too.
  Promise.resolve()
    .then(() => work(cancel.signal))
    .then(
      (value) => post({ type: 'return', id, value }),
      (error: unknown) => {
        const stopped = fault();
        if (stopped) post({ type: 'crashed', error: toWire(stopped) });
        else post({ type: 'throw', id, error: toWire(error) });
      },
    )
    .finally(() => cancels.delete(id));
}

async function open(id: number, protocol: number, { source, wasm, threads, contextSize, kvCache, cache, concurrency }: OpenRequest): Promise<unknown> {
  if (protocol !== PROTOCOL) {
    const detail = { client: protocol, worker: PROTOCOL };
    throw new FairhandError('version-mismatch', 'The worker script is of another version of the package.', { detail });
  }
  const options = {
    ...(wasm !== undefined && { wasm }),
    ...(threads !== undefined && { threads }),
    ...(contextSize !== undefined && { contextSize }),
    ...(kvCache !== undefined && { kvCache }),
    ...(cache !== undefined && { cache }),
    ...(concurrency !== undefined && { concurrency }),
  };
  backend =
    source.kind === 'none'
      ? await LocalBackend.withoutModel(options)
      : await LocalBackend.load(sourceOf(source), { ...options, onProgress: progressOf(id) });
  return { ...backend.info, worker: true };
}

function sourceOf(source: WireSource): ModelSource {
  switch (source.kind) {
    case 'remote':
      return source.model;
    case 'blob':
      return source.blob;
    case 'shards':
      return source.shards;
    case 'stream':
      return pullStream();
    case 'none':
      throw new FairhandError('internal', 'There is no model to load.');
  }
}

/** A stream whose pieces the client sends, one for each that is asked for. */
function pullStream(): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await new Promise<Uint8Array | null>((resolve, reject) => {
          pulled = { resolve, reject };
          post({ type: 'pull' });
        });
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function opened(): LocalBackend {
  if (!backend) throw new FairhandError('internal', 'The worker has not been opened.');
  return backend;
}

/** A message a frame is enough for a progress bar; the last one always goes out. */
function progressOf(id: number): (progress: LoadProgress) => void {
  let last = 0;
  return (progress) => {
    const now = performance.now();
    if (progress.loaded !== progress.total && now - last < 16) return;
    last = now;
    post({ type: 'load-progress', id, progress });
  };
}
