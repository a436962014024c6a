// The models of an engine beside its first: each source is known by one name, and loaded when a profile is prepared.
import type { Backend } from './backend.js';
import { parsed } from './cache/request.js';
import { FairhandError } from './errors.js';
import { isLocalFile } from './files.js';
import type { ModelSource, PrepareOptions, RemoteModel } from './types.js';

interface Known {
  name: string;
  source: ModelSource;
  /** There while it is being loaded, and when it has been. */
  loaded?: Promise<void>;
}

export class Models {
  /** For each registered profile the name of its model; undefined for the first. */
  readonly profiles = new Map<string, string | undefined>();
  readonly #backend: Backend;
  readonly #known = new Map<unknown, Known>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The name of the model with that key. It says nothing of the source: names go where addresses do not. */
  nameOf(key: unknown, source: ModelSource): string {
    const known = this.#known.get(key) ?? { name: `model-${this.#known.size + 1}`, source };
    this.#known.set(key, known);
    return known.name;
  }

  /**
   * Loads the models that the profiles need, one after the other.
   * @throws FairhandError `invalid-argument` for a profile that is not there, before anything is loaded; and as a load does
   */
  async prepare(profiles: readonly string[], options: PrepareOptions): Promise<void> {
    const missing = profiles.findIndex((name) => !this.profiles.has(name));
    if (missing >= 0) throw new FairhandError('invalid-argument', `There is no profile of the name at place ${missing}.`);
    const needed = new Set(profiles.map((name) => this.profiles.get(name)));
    for (const known of this.#known.values()) {
      if (!needed.has(known.name)) continue;
      known.loaded ??= this.#backend.addModel(known.name, known.source, options).catch((error: unknown) => {
        delete known.loaded; // it may be tried again
        throw error;
      });
      await known.loaded;
    }
  }
}

/**
 * What tells one source from another: an address, a promised digest, or the very object.
 * @throws FairhandError `invalid-argument` for what is no source of a model that can be read again
 */
export function modelKey(source: ModelSource): unknown {
  if (isLocalFile(source)) return String(source);
  if (typeof source === 'string' || source instanceof URL) return parsed(source).href;
  if (source instanceof Blob || source instanceof ArrayBuffer || source instanceof Uint8Array || Array.isArray(source)) return source;
  if (typeof source === 'object' && source !== null && 'url' in source) {
    const { url, sha256 } = source as RemoteModel;
    return sha256 ?? parsed(url).href;
  }
  throw new FairhandError('invalid-argument', "A profile's model is a URL, a File, a Blob, a buffer or a list of them.");
}
