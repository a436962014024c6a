// What a place that keeps models must be able to do. The browser's private file system is one, a folder of Node's another.

/** A model that is kept. */
export interface StoredModel {
  /** Its name in the store: the digest that the caller promised, or one of its address. */
  key: string;
  /** Where it came from: no credentials, no query. */
  url: string;
  size: number;
  /** Of its bytes, in lower-case hex, as they were when they arrived. */
  sha256: string;
  /** Milliseconds since 1970. */
  storedAt: number;
}

/** What a download was of, so that it is resumed only if the server still has the same. */
export interface PartInfo {
  url: string;
  total?: number;
  /** The response's ETag, else its Last-Modified; absent when the server says neither. */
  validator?: string;
}

/** A download that is not finished. It stays when the page closes. */
export interface Part {
  /** Bytes that are there. */
  readonly size: number;
  /** Absent before the first {@link restart}. */
  readonly info: PartInfo | undefined;
  bytes(): AsyncIterable<Uint8Array>;
  /** Forgets all bytes and begins anew. */
  restart(info: PartInfo): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  /** Becomes a kept model, all at once: whoever looks sees none of it or the whole. */
  commit(model: StoredModel): Promise<void>;
  /** Closes it, to be resumed later. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

/** A download that another load could go on with. */
export interface PartialModel {
  key: string;
  url: string;
  loaded: number;
  total: number | null;
}

export interface ModelStore {
  readonly kind: 'opfs' | 'cache-api' | 'disk';
  find(key: string): Promise<{ model: StoredModel; blob: Blob } | undefined>;
  /** The part of this name, with what it holds. One at a time: the caller has the lock. */
  part(key: string): Promise<Part>;
  list(): Promise<StoredModel[]>;
  partial(): Promise<PartialModel[]>;
  /** Whether there was one. */
  delete(key: string): Promise<boolean>;
}

/** A model's bytes are read in pieces of this size: large enough to be cheap, small enough to hear a cancel between two. */
export const PIECE = 1 << 22;

export async function* blobPieces(blob: Blob): AsyncGenerator<Uint8Array> {
  const read = (start: number) => (start < blob.size ? blob.slice(start, start + PIECE).arrayBuffer() : undefined);
  let coming = read(0);
  for (let start = 0; coming; start += PIECE) {
    const piece: ArrayBuffer = await coming;
    // The next is read while this one is taken in; should that fail, it is thrown when its turn comes, if ever.
    coming = read(start + PIECE);
    coming?.catch(() => {});
    yield new Uint8Array(piece);
  }
}
