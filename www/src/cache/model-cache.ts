// What the user of the package sees of the kept models: a list, and verbs.
import { FairhandError } from '../errors.js';
import type { CachedModel, CacheEstimate, LoadProgress, ModelCache, RemoteModel } from '../types.js';
import { Rate } from './rate.js';
import { keyOf, openRemote } from './remote-model.js';
import { Sha256 } from './sha256.js';
import { blobPieces, type ModelStore } from './store.js';
import { openStore } from './stores.js';

type Named = string | URL | RemoteModel | { key: string };

/** The models that this origin keeps. Nothing here touches the network but `add`. */
export const modelCache: ModelCache = {
  async list(): Promise<CachedModel[]> {
    const { store } = await openStore();
    if (!store) return [];
    const whole = (await store.list()).map((model) => ({ ...model, complete: true, loaded: model.size }));
    const parts = (await store.partial())
      .filter(({ key }) => !whole.some((model) => model.key === key))
      .map(({ key, url, loaded, total }) => ({ key, url, loaded, complete: false, ...(total !== null && { size: total }) }));
    return [...whole, ...parts];
  },

  async has(model: Named): Promise<boolean> {
    const { store } = await openStore();
    return Boolean(await store?.find(named(model)));
  },

  async add(model: string | URL | RemoteModel, { signal, onProgress }: { signal?: AbortSignal; onProgress?: (progress: LoadProgress) => void } = {}): Promise<CachedModel> {
    const remote = typeof model === 'string' || model instanceof URL ? { url: model } : model;
    const opened = await openRemote(remote, { signal });
    const rate = new Rate();
    let loaded = 0;
    try {
      for await (const piece of opened.chunks) {
        loaded += piece.length;
        const { fromCache, resumedFrom } = opened.report;
        const phase = opened.arriving === 'network' ? 'download' : 'parse';
        onProgress?.({ phase, loaded, total: opened.total ?? null, fromCache, resumedFrom, bytesPerSecond: rate.at(phase === 'download' ? piece.length : 0) });
      }
      await opened.close();
    } catch (error) {
      await opened.close(error);
      throw error;
    }
    const found = await (await openStore()).store?.find(keyOf(remote));
    if (!found) throw new FairhandError('storage-quota', opened.report.notice ?? 'The model could not be kept.');
    return { ...found.model, complete: true, loaded: found.model.size };
  },

  async verify(model: Named): Promise<boolean> {
    const { store } = await openStore();
    const found = await store?.find(named(model));
    if (!found) throw new FairhandError('invalid-argument', 'This model is not in the cache.');
    const hash = new Sha256();
    for await (const piece of blobPieces(found.blob)) hash.update(piece);
    return hash.hex() === found.model.sha256;
  },

  async delete(model: Named): Promise<boolean> {
    const { store } = await openStore();
    return store ? store.delete(named(model)) : false;
  },

  async clear(): Promise<void> {
    const { store } = await openStore();
    if (!store) return;
    const all: Pick<ModelStore, 'list' | 'partial'> = store;
    for (const { key } of [...(await all.list()), ...(await all.partial())]) await store.delete(key);
  },

  async estimate(): Promise<CacheEstimate> {
    const { store, notice } = await openStore();
    const { quota, usage } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {};
    const persisted = (await navigator.storage?.persisted?.().catch(() => false)) ?? false;
    return {
      kind: store?.kind ?? 'none',
      availableBytes: quota === undefined ? null : Math.max(0, quota - (usage ?? 0)),
      usedBytes: usage ?? null,
      persisted,
      ...(notice !== undefined && { notice }),
    };
  },

  async persist(): Promise<boolean> {
    return (await navigator.storage?.persist?.().catch(() => false)) ?? false;
  },
};

function named(model: Named): string {
  if (typeof model === 'object' && 'key' in model) return model.key;
  return keyOf(typeof model === 'string' || model instanceof URL ? { url: model } : model);
}
