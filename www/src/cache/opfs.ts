// Models in the origin's private file system. For each: KEY.gguf and KEY.json; while it is being fetched KEY.part and
// KEY.part.json. A part becomes a model by one rename, after its description has been written.
import { blobPieces, type ModelStore, type Part, type PartialModel, type PartInfo, type StoredModel } from './store.js';

const FOLDER = 'fairhand-models';

// TypeScript's DOM library knows neither: the first is a worker's alone.
interface SyncHandle {
  getSize(): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}
type Handle = FileSystemFileHandle & {
  createSyncAccessHandle?: () => Promise<SyncHandle>;
  move?: (name: string) => Promise<void>;
};

export class OpfsStore implements ModelStore {
  readonly kind = 'opfs';
  readonly #folder: FileSystemDirectoryHandle;

  private constructor(folder: FileSystemDirectoryHandle) {
    this.#folder = folder;
  }

  /** Throws what the browser throws where there is no such file system, or not for this page. */
  static async open(): Promise<OpfsStore> {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(FOLDER, { create: true });
    const probe = typeof FileSystemFileHandle === 'function' ? (FileSystemFileHandle.prototype as Handle) : undefined;
    if (!probe?.move) throw new DOMException('Files cannot be renamed here.', 'NotSupportedError');
    return new OpfsStore(folder);
  }

  async find(key: string): Promise<{ model: StoredModel; blob: Blob } | undefined> {
    const model = await this.#json<StoredModel>(`${key}.json`);
    const blob = model && (await this.#file(`${key}.gguf`));
    // A file of another length is not what was stored: whoever asks is to fetch it anew.
    return blob && blob.size === model.size ? { model, blob } : undefined;
  }

  async part(key: string): Promise<Part> {
    const handle = (await this.#folder.getFileHandle(`${key}.part`, { create: true })) as Handle;
    const info = await this.#json<PartInfo>(`${key}.part.json`);
    const held = info ? await handle.getFile() : undefined;
    const files: PartFiles = {
      describe: (next) => this.#write(`${key}.part.json`, next),
      finish: async (model) => {
        await this.#write(`${key}.json`, model);
        await handle.move!(`${key}.gguf`);
        await this.#remove(`${key}.part.json`);
      },
      remove: async () => {
        await this.#remove(`${key}.part.json`);
        await this.#remove(`${key}.part`);
      },
    };
    return new OpfsPart(files, () => openWriter(handle), info, held);
  }

  async list(): Promise<StoredModel[]> {
    const found: StoredModel[] = [];
    for (const name of await this.#names()) {
      const key = /^(\w+)\.gguf$/.exec(name)?.[1];
      const kept = key && (await this.find(key));
      if (kept) found.push(kept.model);
    }
    return found;
  }

  async partial(): Promise<PartialModel[]> {
    const found: PartialModel[] = [];
    for (const name of await this.#names()) {
      const key = /^(\w+)\.part$/.exec(name)?.[1];
      const info = key && (await this.#json<PartInfo>(`${key}.part.json`));
      const file = info && (await this.#file(name));
      if (file) found.push({ key, url: info.url, loaded: file.size, total: info.total ?? null });
    }
    return found;
  }

  async delete(key: string): Promise<boolean> {
    let there = false;
    for (const suffix of ['gguf', 'json', 'part', 'part.json']) there = (await this.#remove(`${key}.${suffix}`)) || there;
    return there;
  }

  async #names(): Promise<string[]> {
    const names: string[] = [];
    for await (const name of (this.#folder as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name);
    return names;
  }

  async #file(name: string): Promise<File | undefined> {
    try {
      return await (await this.#folder.getFileHandle(name)).getFile();
    } catch {
      return undefined; // it is not there
    }
  }

  async #json<T>(name: string): Promise<T | undefined> {
    try {
      return JSON.parse(await (await this.#file(name))!.text()) as T;
    } catch {
      return undefined; // missing, or broken off in the middle
    }
  }

  async #write(name: string, value: unknown): Promise<void> {
    const writer = await openWriter((await this.#folder.getFileHandle(name, { create: true })) as Handle);
    await writer.truncate();
    await writer.write(new TextEncoder().encode(JSON.stringify(value)), 0);
    await writer.close();
  }

  async #remove(name: string): Promise<boolean> {
    try {
      await this.#folder.removeEntry(name);
      return true;
    } catch (error) {
      if ((error as Error).name === 'NotFoundError') return false;
      throw error;
    }
  }
}

interface PartFiles {
  describe(info: PartInfo): Promise<void>;
  finish(model: StoredModel): Promise<void>;
  remove(): Promise<void>;
}

class OpfsPart implements Part {
  info: PartInfo | undefined;
  size: number;
  readonly #files: PartFiles;
  readonly #open: () => Promise<Writer>;
  /** Opened with the first write: until then `held` can be read. */
  #writer: Promise<Writer> | undefined;
  #held: Blob | undefined;

  constructor(files: PartFiles, open: () => Promise<Writer>, info: PartInfo | undefined, held: Blob | undefined) {
    this.#files = files;
    this.#open = open;
    this.info = info;
    this.#held = held;
    this.size = held?.size ?? 0;
  }

  bytes(): AsyncIterable<Uint8Array> {
    return blobPieces(this.#held ?? new Blob());
  }

  async restart(info: PartInfo): Promise<void> {
    this.#held = undefined;
    await (await this.#opened()).truncate();
    this.size = 0;
    await this.#files.describe(info);
    this.info = info;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await (await this.#opened()).write(bytes, this.size);
    this.size += bytes.length;
  }

  async commit(model: StoredModel): Promise<void> {
    await this.#close();
    await this.#files.finish(model);
  }

  async keep(): Promise<void> {
    await this.#close();
    if (this.size === 0) await this.#files.remove();
  }

  async discard(): Promise<void> {
    await this.#close().catch(() => {}); // what could not be written is not wanted either
    await this.#files.remove();
  }

  #opened(): Promise<Writer> {
    return (this.#writer ??= this.#open());
  }

  async #close(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    await (await writer)?.close();
  }
}

interface Writer {
  write(bytes: Uint8Array, at: number): Promise<void>;
  truncate(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A worker has handles whose writes are in the file at once, so that nothing is lost when its page is closed. Elsewhere
 * the browser writes to a copy, which takes the file's place when it is closed.
 */
async function openWriter(handle: Handle): Promise<Writer> {
  if (handle.createSyncAccessHandle) {
    const file = await patiently(() => handle.createSyncAccessHandle!());
    return {
      async write(bytes, at) {
        for (let done = 0; done < bytes.length; ) {
          const written = file.write(bytes.subarray(done), { at: at + done });
          if (written === 0) throw new DOMException('The disk is full.', 'QuotaExceededError');
          done += written;
        }
      },
      truncate: async () => file.truncate(0),
      async close() {
        file.flush();
        file.close();
      },
    };
  }
  const file = await handle.createWritable({ keepExistingData: true });
  return {
    write: (bytes, position) => file.write({ type: 'write', position, data: bytes as BufferSource }),
    truncate: () => file.truncate(0),
    close: () => file.close(),
  };
}

/** A worker that has just been ended may hold its file for a moment longer. */
async function patiently<T>(open: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if ((error as Error).name !== 'NoModificationAllowedError' || tries === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
