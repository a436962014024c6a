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

/** Pieces that are on their way while one is taken in: the browser's other processes fetch them meanwhile. */
const AHEAD = 3;

export async function* blobPieces(blob: Blob): AsyncGenerator<Uint8Array> {
  const coming: Promise<ArrayBuffer>[] = [];
  let asked = 0;
  const ask = () => {
    if (asked >= blob.size) return;
    const piece = blob.slice(asked, asked + PIECE).arrayBuffer();
    piece.catch(() => {}); // thrown when its turn comes, if ever
    coming.push(piece);
    asked += PIECE;
  };
  for (let i = 0; i < AHEAD; i++) ask();
  for (let piece = coming.shift(); piece; piece = coming.shift()) {
    const bytes = new Uint8Array(await piece);
    ask();
    yield bytes;
  }
}
