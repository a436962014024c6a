// A model in several files, `NAME-00001-of-00003.gguf` and so on, as llama.cpp's gguf-split writes them: joined on the
// fly into the single file that it was cut from. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
import { openRemote, type OpenModel, type OpenRemoteOptions } from './cache/remote-model.js';
import { Rate } from './cache/rate.js';
import { parsed } from './cache/request.js';
import { blobPieces } from './cache/store.js';
import { FairhandError, throwIfAborted } from './errors.js';
import type { LoadProgress, RemoteModel } from './types.js';

export interface OpenShardsOptions extends OpenRemoteOptions {
  /** Hears of the files as they arrive: all of them must be there before the first joined byte. */
  onArrival?: ((progress: LoadProgress) => void) | undefined;
}

type Shard = string | URL | RemoteModel | Blob;

/** No model of ours is cut into more; a larger count is a typing error and not a model. */
const MAX_SHARDS = 1000;

/** The files of a model whose address names one of several; undefined for an ordinary address. */
export function shardsOf(model: RemoteModel): RemoteModel[] | undefined {
  const url = parsed(model.url);
  const { init, size } = model;
  return shardNames(url.pathname)?.map((name, i) => {
    const shard = new URL(url);
    shard.pathname = name;
    // A digest, if there is one, is of one file: it cannot be that of each.
    return { url: shard, ...(init && { init }), ...(size !== undefined && i === 0 && { size }) };
  });
}

/** The names of all files of a model, from the name of one of several; undefined for another name. */
export function shardNames(name: string): string[] | undefined {
  const match = /-(\d{5})-of-(\d{5})\.gguf$/i.exec(name);
  if (!match) return undefined;
  const count = Number(match[2]);
  if (count < 1 || count > MAX_SHARDS) throw new FairhandError('invalid-argument', 'The address names an impossible number of files.');
  const stem = name.slice(0, match.index);
  return Array.from({ length: count }, (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${match[2]}.gguf`);
}

/**
 * Fetches every file (each is kept and resumed by itself), then joins them.
 * @throws FairhandError as {@link openRemote}; `corrupt-model` when they do not belong together
 */
export async function openShards(shards: readonly Shard[], options: OpenShardsOptions = {}): Promise<OpenModel> {
  if (shards.length === 0) throw new FairhandError('invalid-argument', 'There is no model to load: the list is empty.');
  const report: OpenModel['report'] = { kept: 'none', fromCache: true, resumedFrom: 0 };
  const rate = new Rate();
  let loaded = 0;
  const files: Blob[] = [];
  for (const shard of shards) {
    if (shard instanceof Blob) files.push(shard);
    else files.push(await fetched(typeof shard === 'string' || shard instanceof URL ? { url: shard } : shard));
  }
  const joined = await join(files);
  return {
    total: joined.total,
    arriving: 'local',
    report,
    chunks: joined.chunks(options.signal),
    close: async () => {},
  };

  async function fetched(model: RemoteModel): Promise<Blob> {
    const opened = await openRemote(model, options);
    const pieces: Blob[] = [];
    try {
      for await (const piece of opened.chunks) {
        pieces.push(new Blob([piece as BlobPart]));
        loaded += piece.length;
        const live = opened.arriving === 'network';
        options.onArrival?.({
          phase: live ? 'download' : 'parse',
          loaded,
          total: null,
          fromCache: !live,
          resumedFrom: opened.report.resumedFrom,
          bytesPerSecond: rate.at(live ? piece.length : 0),
        });
      }
      await opened.close();
    } catch (error) {
      await opened.close(error);
      throw error;
    }
    report.kept = opened.report.kept;
    report.fromCache &&= opened.report.fromCache;
    report.resumedFrom += opened.report.resumedFrom;
    if (opened.report.notice !== undefined) report.notice = opened.report.notice;
    return new Blob(pieces);
  }
}

interface Tensor {
  /** Name, dimensions and type, as the file has them. */
  about: Uint8Array;
  offset: bigint;
}

interface Head {
  version: number;
  /** Each key with its value, as the file has them, apart from those that say how the model was cut. */
  pairs: Uint8Array[];
  tensors: Tensor[];
  alignment: number;
  /** Where the tensors' data begins. */
  dataStart: number;
  shard: { number: number; count: number } | undefined;
}

async function join(files: readonly Blob[]): Promise<{ total: number; chunks(signal?: AbortSignal): AsyncGenerator<Uint8Array> }> {
  const heads: Head[] = [];
  for (const file of files) heads.push(await readHead(file));
  const first = heads[0]!;
  heads.forEach(({ shard, alignment, version }, i) => {
    const right = files.length === 1 || (shard?.number === i && shard.count === files.length);
    if (!right || alignment !== first.alignment || version !== first.version) {
      throw new FairhandError('corrupt-model', 'The files are not the parts of one model, in order.', { detail: { file: i + 1 } });
    }
  });
  const { alignment } = first;
  const bodies = heads.map((head, i) => files[i]!.slice(head.dataStart));
  const parts: Uint8Array[] = [];
  let base = 0n;
  heads.forEach(({ tensors }, i) => {
    for (const { about, offset } of tensors) parts.push(about, u64(base + offset));
    base += BigInt(padded(bodies[i]!.size, alignment));
  });
  const count = heads.reduce((sum, { tensors }) => sum + tensors.length, 0);
  const start = [ascii('GGUF'), u32(first.version), u64(BigInt(count)), u64(BigInt(first.pairs.length)), ...first.pairs, ...parts];
  const length = start.reduce((sum, part) => sum + part.length, 0);
  const blobs = [new Blob([...(start as BlobPart[]), new Uint8Array(padded(length, alignment) - length)])];
  for (const body of bodies) blobs.push(body, new Blob([new Uint8Array(padded(body.size, alignment) - body.size)]));
  const whole = new Blob(blobs);
  return {
    total: whole.size,
    async *chunks(signal) {
      for await (const piece of blobPieces(whole)) {
        throwIfAborted(signal);
        yield piece;
      }
    },
  };
}

/** Headers hold vocabularies of some megabytes; the start of the file is read in growing pieces until it is enough. */
async function readHead(file: Blob): Promise<Head> {
  for (let size = Math.min(file.size, 1 << 22); ; size = Math.min(file.size, size * 4)) {
    try {
      return parse(new Uint8Array(await file.slice(0, size).arrayBuffer()));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (size === file.size) throw new FairhandError('corrupt-model', 'A file of the model ends within its header.');
    }
  }
}

// Bytes of the values of each type that has a fixed size, by the format's type number; 8 is a string, 9 an array.
const SIZES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };

/** @throws RangeError when the bytes end too early */
function parse(bytes: Uint8Array): Head {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const advance = (count: number) => {
    if (!(count >= 0 && at + count <= bytes.length)) throw new RangeError('the header goes on');
    at += count;
    return at - count;
  };
  const int32 = () => view.getUint32(advance(4), true);
  const int64 = () => Number(view.getBigUint64(advance(8), true));
  const text = () => {
    const length = int64();
    const start = advance(length);
    return new TextDecoder().decode(bytes.subarray(start, start + length));
  };
  const skip = (type: number): void => {
    if (type === 8) return void advance(int64());
    if (type === 9) {
      const inner = int32();
      const count = int64();
      const size = SIZES[inner];
      if (size !== undefined) return void advance(size * count);
      for (let i = 0; i < count; i++) skip(inner);
      return;
    }
    const size = SIZES[type];
    if (size === undefined) throw new FairhandError('corrupt-model', 'A header of the model holds a value of an unknown type.');
    advance(size);
  };

  if (bytes.length < 24) throw new RangeError('the header goes on');
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== 'GGUF') throw new FairhandError('corrupt-model', 'This is not a GGUF file.');
  at = 4;
  const version = int32();
  if (version !== 2 && version !== 3) throw new FairhandError('unsupported-model', `GGUF version ${version} is not supported.`);
  const [tensorCount, pairCount] = [int64(), int64()];
  const head: Head = { version, pairs: [], tensors: [], alignment: 32, dataStart: 0, shard: undefined };
  const split = { number: -1, count: 0 };
  for (let i = 0; i < pairCount; i++) {
    const start = at;
    const key = text();
    const type = int32();
    const valueAt = at;
    skip(type);
    const small = () => (SIZES[type] === 2 ? view.getUint16(valueAt, true) : SIZES[type] === 4 ? view.getUint32(valueAt, true) : NaN);
    if (key === 'general.alignment') head.alignment = small();
    if (key === 'split.no') split.number = small();
    else if (key === 'split.count') split.count = small();
    else if (!key.startsWith('split.')) head.pairs.push(bytes.slice(start, at));
  }
  if (!(head.alignment >= 1 && head.alignment <= 1 << 16)) throw new FairhandError('corrupt-model', 'A header of the model has an impossible alignment.');
  for (let i = 0; i < tensorCount; i++) {
    const start = at;
    advance(int64());
    const dimensions = int32();
    advance(8 * dimensions + 4);
    const about = bytes.slice(start, at);
    head.tensors.push({ about, offset: view.getBigUint64(advance(8), true) });
  }
  head.dataStart = padded(at, head.alignment);
  if (split.number >= 0) head.shard = split;
  return head;
}

function padded(length: number, alignment: number): number {
  return Math.ceil(length / alignment) * alignment;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

function u64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}
