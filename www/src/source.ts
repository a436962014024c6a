// A model's bytes, from wherever they are: opened, checked early, and read in pieces.
import { abortError, FairhandError, throwIfAborted } from './errors.js';
import type { ModelSource, RemoteModel } from './types.js';

/** A source whose bytes are on their way. */
export interface OpenSource {
  /** Bytes in all, where known. */
  total: number | undefined;
  /** Whether they cross a network, as far as the source tells. */
  remote: boolean;
  chunks: AsyncIterable<Uint8Array>;
}

// A cancel is heard between pieces, and each is copied into the module's memory: large enough to be cheap, small
// enough to take well under a slice.
const PIECE = 1 << 20;

/**
 * Opens a source. Nothing is read of it before its first piece is asked for, apart from a response's head.
 * @throws FairhandError `http` with `detail.status`; `network`; `corrupt-model` for what is not a GGUF file;
 *   `invalid-argument`; `aborted`
 */
export async function openSource(source: ModelSource, signal?: AbortSignal): Promise<OpenSource> {
  throwIfAborted(signal);
  if (typeof source === 'string' || source instanceof URL) return openRemote({ url: source }, signal);
  if (source instanceof Blob) {
    return { total: source.size, remote: false, chunks: checked(blobPieces(source), signal) };
  }
  if (source instanceof ArrayBuffer) source = new Uint8Array(source);
  if (source instanceof Uint8Array) return { total: source.length, remote: false, chunks: checked(pieces(source), signal) };
  if (source instanceof ReadableStream) return { total: undefined, remote: true, chunks: checked(streamPieces(source), signal) };
  if (typeof source === 'object' && source !== null && 'url' in source) return openRemote(source, signal);
  throw new FairhandError('invalid-argument', 'A model is a URL, a File, a Blob, a buffer or a stream of bytes.');
}

async function openRemote({ url, size, init }: RemoteModel, signal?: AbortSignal): Promise<OpenSource> {
  const where = redacted(url);
  if (hasCredentials(url)) {
    throw new FairhandError('invalid-argument', `The address of ${where} holds credentials: send them in init.headers.`);
  }
  let response: Response;
  try {
    response = await fetch(url, { ...init, ...(signal && { signal }) });
  } catch (error) {
    if (signal?.aborted) throw abortError(signal);
    throw new FairhandError('network', `${where} cannot be reached.`, { retryable: true, cause: error });
  }
  if (!response.ok || !response.body) {
    void response.body?.cancel();
    const { status } = response;
    const retryable = status >= 500 || status === 408 || status === 429;
    throw new FairhandError('http', `${where} answered with status ${status}.`, { retryable, detail: { status } });
  }
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/html\b/i.test(type)) {
    void response.body.cancel();
    throw new FairhandError('corrupt-model', `${where} is a web page, not a model.`, { detail: { contentType: type } });
  }
  // A compressed body is longer than the length that travels.
  const length = response.headers.has('content-encoding') ? NaN : Number(response.headers.get('content-length') ?? NaN);
  const total = Number.isSafeInteger(length) ? length : size;
  return { total, remote: true, chunks: checked(streamPieces(response.body), signal) };
}

/** Refuses at the first four bytes what is not a GGUF file, before megabytes of it are read. */
async function* checked(chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  let head = new Uint8Array(0); // pieces held back until there are four bytes
  let sound = false;
  try {
    for await (const chunk of chunks) {
      throwIfAborted(signal);
      if (sound) {
        yield chunk;
        continue;
      }
      head = concatenated(head, chunk);
      if (head.length < 4) continue;
      if (String.fromCharCode(...head.subarray(0, 4)) !== 'GGUF') {
        throw new FairhandError('corrupt-model', 'This is not a GGUF file.');
      }
      sound = true;
      yield head;
    }
  } catch (error) {
    if (error instanceof FairhandError) throw error;
    if (signal?.aborted) throw abortError(signal);
    throw new FairhandError('network', 'The model stopped arriving before its end.', { retryable: true, cause: error });
  }
  if (!sound) throw new FairhandError('corrupt-model', 'This is not a GGUF file: it is shorter than four bytes.');
}

async function* streamPieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!(value instanceof Uint8Array)) {
        throw new FairhandError('invalid-argument', 'A stream of a model must give Uint8Array pieces.');
      }
      if (value.length) yield* pieces(value);
    }
  } finally {
    await reader.cancel().catch(() => {}); // a stream that failed cannot be cancelled, nor need it be
  }
}

async function* blobPieces(blob: Blob): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < blob.size; start += PIECE) {
    yield new Uint8Array(await blob.slice(start, start + PIECE).arrayBuffer());
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE);
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

/** A URL as a message may show it: no credentials, no query (tokens travel there), no fragment. */
export function redacted(url: string | URL): string {
  const { origin, protocol, pathname } = parsed(url);
  return origin === 'null' ? `${protocol}${pathname}` : origin + pathname;
}

/** Fetch refuses such an address with a message that quotes it. */
function hasCredentials(url: string | URL): boolean {
  const { username, password } = parsed(url);
  return username !== '' || password !== '';
}

/**
 * An address in full. A relative one is relative to the page (in a worker there is no page: there it must be absolute).
 * @throws FairhandError `invalid-argument`
 */
export function parsed(url: string | URL): URL {
  try {
    return new URL(url, typeof document === 'undefined' ? undefined : document.baseURI);
  } catch {
    throw new FairhandError('invalid-argument', 'The address is not a URL.'); // the cause would quote it
  }
}
