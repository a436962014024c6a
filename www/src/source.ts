// A model's bytes, from wherever they are: opened, checked early, and read in pieces.
import { openRemote, type OpenModel } from './cache/remote-model.js';
import { magicChecked } from './cache/download.js';
import { blobPieces, PIECE } from './cache/store.js';
import { abortError, FairhandError, throwIfAborted } from './errors.js';
import { isLocalFile, localFile, localFiles } from './files.js';
import { openShards, shardsOf, type OpenShardsOptions } from './shards.js';
import type { ModelSource, RemoteModel } from './types.js';

/**
 * Opens a source. Of a remote one, the response's head is read; nothing else before its first piece is asked for.
 * @throws FairhandError as {@link openRemote}; `corrupt-model` for what is not a GGUF file; `invalid-argument`
 */
export async function openSource(source: ModelSource, options: OpenShardsOptions = {}): Promise<OpenModel> {
  const { signal } = options;
  throwIfAborted(signal);
  if (isLocalFile(source)) {
    const files = await localFiles(source);
    return files.length > 1 ? openShards(files, options) : openSource(files[0]!, options);
  }
  if (Array.isArray(source)) return openShards(await Promise.all((source as ShardList).map(ofThisMachine)), options);
  if (typeof source === 'string' || source instanceof URL) source = { url: source };
  if (source instanceof Blob) return local(blobPieces(source), source.size, signal);
  if (source instanceof ArrayBuffer) source = new Uint8Array(source);
  if (source instanceof Uint8Array) return local(bufferPieces(source), source.length, signal);
  if (source instanceof ReadableStream) return local(streamPieces(source), undefined, signal);
  if (typeof source === 'object' && source !== null && 'url' in source) {
    const shards = shardsOf(source as RemoteModel);
    return shards ? openShards(shards, options) : openRemote(source as RemoteModel, options);
  }
  throw new FairhandError('invalid-argument', 'A model is a URL, a File, a Blob, a buffer or a stream of bytes.');
}

type ShardList = Extract<ModelSource, readonly unknown[]>;

/** One of several files, opened where it is one of this machine. */
async function ofThisMachine(shard: ShardList[number]): Promise<ShardList[number]> {
  return isLocalFile(shard) ? localFile(shard) : shard;
}

function local(chunks: AsyncIterable<Uint8Array>, total: number | undefined, signal: AbortSignal | undefined): OpenModel {
  return {
    total,
    // A stream may well come over a network; its reader can tell, and we cannot.
    arriving: total === undefined ? 'network' : 'local',
    report: { kept: 'none', fromCache: false, resumedFrom: 0 },
    chunks: heedful(magicChecked(chunks), signal),
    close: async () => {},
  };
}

/** Ends with the signal, and gives what goes wrong its type. */
async function* heedful(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of chunks) {
      throwIfAborted(signal);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FairhandError) throw error;
    if (signal?.aborted) throw abortError(signal);
    throw new FairhandError('network', 'The model stopped arriving before its end.', { retryable: true, cause: error });
  }
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
      if (value.length) yield* bufferPieces(value);
    }
  } finally {
    await reader.cancel().catch(() => {}); // a stream that failed cannot be cancelled, nor need it be
  }
}

async function* bufferPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE);
}
