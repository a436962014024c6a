// Models in the browser's Cache API: for browsers without a private file system. A model is there whole or not at all;
// a download that breaks off begins anew.
import { FairhandError } from '../errors.js';
import type { ModelStore, Part, PartInfo, StoredModel } from './store.js';

const NAME = 'fairhand-models';
const META = 'x-fairhand-model';

export class CacheApiStore implements ModelStore {
  readonly kind = 'cache-api';
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Throws what the browser throws where there is none. */
  static async open(): Promise<CacheApiStore> {
    return new CacheApiStore(await caches.open(NAME));
  }

  async find(key: string): Promise<{ model: StoredModel; blob: Blob } | undefined> {
    const response = await this.#cache.match(address(key));
    const model = response && described(response);
    if (!model) return undefined;
    const blob = await response.blob();
    return blob.size === model.size ? { model, blob } : undefined;
  }

  async part(key: string): Promise<Part> {
    return new CachePart(this.#cache, key);
  }

  async list(): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for (const response of await this.#cache.matchAll()) {
      const model = described(response);
      if (model) models.push(model);
    }
    return models;
  }

  async partial(): Promise<[]> {
    return [];
  }

  delete(key: string): Promise<boolean> {
    return this.#cache.delete(address(key));
  }
}

/** Keeps the pieces as blobs, which browsers move to disk when they are many. */
class CachePart implements Part {
  info: PartInfo | undefined;
  size = 0;
  readonly #cache: Cache;
  readonly #key: string;
  #pieces: Blob[] = [];

  constructor(cache: Cache, key: string) {
    this.#cache = cache;
    this.#key = key;
  }

  async *bytes(): AsyncGenerator<Uint8Array> {}

  async restart(info: PartInfo): Promise<void> {
    this.info = info;
    this.#pieces = [];
    this.size = 0;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(new Blob([bytes as BlobPart]));
    this.size += bytes.length;
  }

  async commit(model: StoredModel): Promise<void> {
    if (model.size !== this.size) throw new FairhandError('internal', 'A model was to be kept before it was whole.');
    const headers = { [META]: JSON.stringify(model), 'content-type': 'application/octet-stream' };
    await this.#cache.put(address(this.#key), new Response(new Blob(this.#pieces), { headers }));
    this.#pieces = [];
  }

  async keep(): Promise<void> {
    this.#pieces = [];
  }

  async discard(): Promise<void> {
    this.#pieces = [];
  }
}

/** A name for the cache; nothing is ever asked of this address. */
function address(key: string): string {
  return new URL(`/${NAME}/${key}`, globalThis.location.origin).href;
}

function described(response: Response): StoredModel | undefined {
  try {
    return JSON.parse(response.headers.get(META) ?? '') as StoredModel;
  } catch {
    return undefined; // not written by this package
  }
}
