// Which of the browser's stores can be used here.
import { CacheApiStore } from './cache-api.js';
import { OpfsStore } from './opfs.js';
import type { ModelStore } from './store.js';

let opened: Promise<{ store: ModelStore | undefined; notice: string | undefined }> | undefined;

/** The best store that works here. Without one models are fetched for each visit, and `notice` says so. */
export function openStore(): Promise<{ store: ModelStore | undefined; notice: string | undefined }> {
  return (opened ??= firstThatWorks().then((store) => {
    // A folder that the user has cleared away is made anew by the next load; a refusal may also be lifted.
    opened = undefined;
    return store;
  }));
}

async function firstThatWorks(): Promise<{ store: ModelStore | undefined; notice: string | undefined }> {
  for (const open of [OpfsStore.open, CacheApiStore.open]) {
    try {
      return { store: await open(), notice: undefined };
    } catch {
      // Private windows refuse, old browsers and Node have none: try the next.
    }
  }
  return { store: undefined, notice: 'Nothing can be kept here, as in a private window: the model will be fetched again next time.' };
}
