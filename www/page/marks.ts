// From a raw text and its edits to the pieces that the two panes show. No DOM here.
import type { Edit } from '../src/index.js';

export type MarkType = 'delete' | 'insert' | 'replace';

/** A run of text; `edit` is the index of the edit that it shows, if it shows one. */
export interface Piece {
  text: string;
  edit?: number;
}

export interface Marked {
  /** The raw text in pieces: what an edit takes away or replaces is marked. */
  raw: Piece[];
  /** The cleaned text in pieces: what an edit puts there is marked, and a deletion is a mark without text. */
  clean: Piece[];
}

/** What an edit does to the text. */
export function typeOf({ original, replacement }: Edit): MarkType {
  if (!original) return 'insert';
  return replacement ? 'replace' : 'delete';
}

/**
 * Cuts both texts at the edits. An undone one shows what was there before in both. Edits that do not fit the text are left
 * out: they are of an older text.
 */
export function cut(raw: string, edits: readonly Edit[], isUndone: (index: number) => boolean = () => false): Marked {
  const marked: Marked = { raw: [], clean: [] };
  let at = 0;
  edits.forEach((edit, index) => {
    if (edit.start < at || edit.end < edit.start || edit.end > raw.length) return;
    const kept = raw.slice(at, edit.start);
    push(marked.raw, kept);
    push(marked.clean, kept);
    if (edit.end > edit.start) marked.raw.push({ text: raw.slice(edit.start, edit.end), edit: index });
    marked.clean.push({ text: isUndone(index) ? raw.slice(edit.start, edit.end) : edit.replacement, edit: index });
    at = edit.end;
  });
  push(marked.raw, raw.slice(at));
  push(marked.clean, raw.slice(at));
  return marked;
}

function push(pieces: Piece[], text: string): void {
  if (text) pieces.push({ text });
}

/** The kinds of edits, as a reader would name them. */
export const kinds: Record<string, string> = {
  filler: 'Filler',
  noise: 'Noise',
  repeat: 'Repeat',
  fragment: 'Broken-off word',
  correction: 'Take-back',
  discourse: 'Floor-holder',
  spokenMark: 'Dictated mark',
  mark: 'Punctuation',
  case: 'Capital or small letter',
  number: 'Number',
  dictionary: 'Your spelling',
  layout: 'Spacing',
};

/** An edit in words, for a tooltip and a screen reader. */
export function describe(edit: Edit): { kind: string; change: string } {
  const changes: Record<MarkType, string> = {
    delete: `removed ${quoted(edit.original)}`,
    insert: `added ${quoted(edit.replacement)}`,
    replace: `${quoted(edit.original)} → ${quoted(edit.replacement)}`,
  };
  return { kind: kinds[edit.kind] ?? edit.kind, change: changes[typeOf(edit)] };
}

/** White space is made visible: an edit may be nothing else. */
function quoted(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  if (/^\s+$/.test(short)) return short.includes('\n') ? 'a line break' : 'a space';
  return `“${short.trim().replaceAll('\n', '⏎')}”`;
}
