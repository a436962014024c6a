// The text outlives a reload: it is kept by this tab, in this browser, and forgotten with the tab or when the text is cleared.
import type { Transcript } from '../src/index.js';

export interface Draft {
  text: string;
  /** The file that it came from, while the text is still the file's. */
  transcript?: Transcript | undefined;
  name: string;
}

const KEY = 'fairhand-text';
const DELAY_MS = 300;
const MAX_NAME = 200;

let waiting: { draft: Draft; timer: ReturnType<typeof setTimeout> } | undefined;
/** Whether there is a text that the browser would not keep: then leaving the page asks first. */
let unkept = false;

/** Keeps a text, in a moment: with every key would be too often. */
export function keepDraft(draft: Draft): void {
  clearTimeout(waiting?.timer);
  waiting = { draft, timer: setTimeout(flush, DELAY_MS) };
}

function flush(): void {
  if (!waiting) return;
  clearTimeout(waiting.timer);
  const { draft } = waiting;
  waiting = undefined;
  unkept = false;
  // The times of every word take far more room than the words: without them the text may still find its place.
  for (const kept of [draft, { text: draft.text, name: draft.name }]) {
    try {
      if (kept.text) sessionStorage.setItem(KEY, JSON.stringify(kept));
      else sessionStorage.removeItem(KEY);
      return;
    } catch {
      // There is no room, or keeping is not allowed here.
    }
  }
  unkept = draft.text.trim() !== '';
  try {
    sessionStorage.removeItem(KEY); // an older text is not the one to come back to
  } catch {
    // Nothing is kept here.
  }
}

/** What this tab has kept, if anything. */
export function keptDraft(): Draft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<Draft> | null;
    if (typeof kept?.text !== 'string') return undefined;
    const { text, transcript } = kept;
    const sound = transcript?.text === text && Array.isArray(transcript.segments);
    return { text, name: String(kept.name ?? '').slice(0, MAX_NAME), ...(sound && { transcript }) };
  } catch {
    return undefined;
  }
}

addEventListener('pagehide', flush);
addEventListener('beforeunload', (event) => {
  flush();
  if (unkept) event.preventDefault();
});
