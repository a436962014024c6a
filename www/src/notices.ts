// What a reader should know of how a transcript was read. Pure; the page and the command line share it.
import type { TranscriptNotice } from './types.js';

// Comments, styles and repeated lines are left out as a matter of course, and nobody need hear of it.
const sentences: Record<string, (lines: string) => string> = {
  unreadableTime: (lines) => `A time${lines} could not be read and is left open.`,
  outsideCue: (lines) => `Text${lines} belongs to no cue; it is kept, without times.`,
  repairedText: () => 'Some characters were damaged and are shown as \u{fffd}.',
  legacyEncoding: () => 'The file is no Unicode; it was read as windows-1252. If letters are wrong, save it as UTF-8.',
  segmentsDisagree: () => 'The segments do not spell the file’s own text, which was taken, without times.',
};

/** A sentence for each kind of notice that matters, with the lines where it is known. */
export function told(notices: readonly TranscriptNotice[]): string[] {
  return Object.entries(sentences).flatMap(([kind, sentence]) => {
    const found = notices.filter((notice) => notice.kind === kind);
    return found.length ? [sentence(places(found))] : [];
  });
}

const MOST_LINES = 3;

function places(notices: readonly TranscriptNotice[]): string {
  const lines = notices.flatMap(({ line }) => line ?? []);
  if (!lines.length) return '';
  const more = lines.length > MOST_LINES ? ` and ${lines.length - MOST_LINES} more` : '';
  return ` at line${lines.length > 1 ? 's' : ''} ${lines.slice(0, MOST_LINES).join(', ')}${more}`;
}
