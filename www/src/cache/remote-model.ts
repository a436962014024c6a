// A model behind a URL: from the cache, or over the network and into the cache.
import { FairhandError } from '../errors.js';
import type { RemoteModel, StorageReport } from '../types.js';
import { Download, notKept } from './download.js';
import { lock } from './lock.js';
import { parsed, redacted } from './request.js';
import { Sha256 } from './sha256.js';
import { blobPieces, type ModelStore, type Part } from './store.js';
import { openStore } from './stores.js';

/** A model whose bytes are on their way. */
export interface OpenModel {
  /** Bytes in all, where known. */
  readonly total: number | undefined;
  /** How the bytes handed on last came. */
  readonly arriving: 'network' | 'local';
  readonly report: StorageReport;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Ends it, read to the end or not. `reason`: what went wrong with the bytes, if something did. */
  close(reason?: unknown): Promise<void>;
}

export interface OpenRemoteOptions {
  signal?: AbortSignal | undefined;
  /** Called when another load is fetching the same model: this one waits for it. */
  onWait?: (() => void) | undefined;
  /** Where models are kept; null for nowhere, absent for the browser's best place. */
  store?: ModelStore | null | undefined;
}

/**
 * Opens a model behind a URL. Loads of the same model wait for each other, in all tabs, and share one download.
 * @throws FairhandError as {@link Download.begin} and {@link Download.bytes}
 */
export async function openRemote(model: RemoteModel, options: OpenRemoteOptions = {}): Promise<OpenModel> {
  const { signal } = options;
  checkDigest(model.sha256);
  const key = keyOf(model);
  const chosen = options.store === undefined ? await openStore() : { store: options.store ?? undefined, notice: undefined };
  const { store } = chosen;
  const release = store ? await lock(key, signal, options.onWait ?? (() => {})) : () => {};
  try {
    const found = await store?.find(key).catch(() => undefined); // a store that cannot be read keeps nothing
    if (store && found) {
      release(); // a kept model is not changed: others may read it at the same time
      return fromStore(found, store);
    }
    let notice = chosen.notice;
    const part = await store?.part(key).catch((error: unknown) => {
      notice = notKept(error);
      return undefined;
    });
    return await overNetwork(model, key, store, part, notice, release, signal);
  } catch (error) {
    release();
    throw error;
  }
}

function fromStore({ model, blob }: NonNullable<Awaited<ReturnType<ModelStore['find']>>>, store: ModelStore): OpenModel {
  return {
    total: model.size,
    arriving: 'local',
    report: { kept: store.kind, fromCache: true, resumedFrom: 0, sha256: model.sha256 },
    chunks: blobPieces(blob),
    async close(reason) {
      // What was kept is not a model, or cannot be read any more: the next load fetches it anew.
      if (isCorrupt(reason)) await store.delete(model.key).catch(() => false);
    },
  };
}

async function overNetwork(
  model: RemoteModel,
  key: string,
  store: ModelStore | undefined,
  part: Part | undefined,
  notice: string | undefined,
  release: () => void,
  signal: AbortSignal | undefined,
): Promise<OpenModel> {
  // The browser's own cache would keep a second copy.
  const init = part && { cache: 'no-store' as const, ...model.init };
  let download: Download;
  try {
    download = await Download.begin({ ...model, ...(init && { init }) }, part, signal);
  } catch (error) {
    await part?.keep().catch(() => {});
    throw error;
  }
  const report: StorageReport = { kept: 'none', fromCache: false, resumedFrom: download.resumedFrom };
  let closed = false;
  return {
    get total() {
      return download.total;
    },
    get arriving() {
      return download.live ? 'network' : 'local';
    },
    report,
    chunks: bytes(),
    close,
  };

  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* download.bytes();
    report.sha256 = download.sha256;
    const { kept } = download;
    if (kept && store) {
      try {
        await kept.commit({ key, url: redacted(model.url), size: download.size, sha256: download.sha256, storedAt: Date.now() });
        report.kept = store.kind;
      } catch (error) {
        notice = notKept(error); // some browsers count the room only now
        await kept.discard().catch(() => {});
      }
      closed = true;
      release();
    }
    const why = download.notice ?? notice;
    if (why !== undefined) report.notice = why;
  }

  async function close(reason?: unknown): Promise<void> {
    download.close();
    if (closed) {
      if (isCorrupt(reason)) await store?.delete(key).catch(() => false);
      return;
    }
    closed = true;
    await (isCorrupt(reason) ? download.kept?.discard() : download.kept?.keep())?.catch(() => {});
    release();
  }
}

function isCorrupt(reason: unknown): boolean {
  return reason instanceof FairhandError && ['corrupt-model', 'integrity-mismatch'].includes(reason.code);
}

/**
 * The name under which a model is kept: the digest that the caller promises, so that every address of it finds the same
 * copy; else one of its address, query included, so that nothing of a token in it can be read from the name.
 */
export function keyOf({ url, sha256 }: RemoteModel): string {
  if (sha256 !== undefined) return sha256.toLowerCase();
  const full = parsed(url);
  full.hash = '';
  return `url${new Sha256().update(new TextEncoder().encode(full.href)).hex()}`;
}

function checkDigest(sha256: unknown): void {
  if (sha256 !== undefined && !(typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256))) {
    throw new FairhandError('invalid-argument', 'sha256 must be 64 hexadecimal digits.');
  }
}
