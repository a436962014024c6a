// Which of the edits are in force. Each can be undone, and each kind of them.
import type { CleanupResult, Edit } from '../src/index.js';
import { cut } from './marks.js';
import { remember, settings } from './settings.js';

export interface Review {
  raw: string;
  /** What was cleaned last. Its edits may also hold some that the model chose earlier: see {@link review}. */
  result: CleanupResult;
  /** Edits that were undone or, where their kind is off, brought back: by index. */
  readonly flipped: Set<number>;
}

/**
 * A text with its edits, after `previous`. Where the text is as it was, what the reader decided on an edit stays, and so does
 * what the model chose, as long as rules have not read on: they begin behind the last edit on which both agree.
 */
export function review(raw: string, result: CleanupResult, previous?: Review): Review {
  if (!previous) return { raw, result, flipped: new Set() };
  const old = previous.result.edits;
  const head = sameHead(previous.raw, raw);
  let edits = result.edits;
  if (!result.provenance.model && old.some(isModels)) {
    const place = new Map(old.filter(({ end }) => end <= head).map((edit) => [keyOf(edit), old.indexOf(edit)]));
    const last = edits.findLastIndex((edit) => place.has(keyOf(edit)));
    const before = last < 0 ? undefined : place.get(keyOf(edits[last]!));
    if (before !== undefined) edits = [...old.slice(0, before + 1), ...edits.slice(last + 1)];
  }
  const tail = Math.min(sameTail(previous.raw, raw), previous.raw.length - head, raw.length - head);
  const moved = raw.length - previous.raw.length;
  const decided = new Set<string>();
  for (const index of previous.flipped) {
    const edit = old[index];
    if (edit && edit.end <= head) decided.add(keyOf(edit));
    else if (edit && edit.start >= previous.raw.length - tail) decided.add(keyOf(edit, moved));
  }
  const flipped = new Set(edits.flatMap((edit, index) => (decided.has(keyOf(edit)) ? [index] : [])));
  return { raw, result: { ...result, edits, text: clean(raw, edits) }, flipped };
}

/** Whether the model had a word in it. */
export function isWeighed({ result }: Review): boolean {
  return result.provenance.model !== undefined || result.edits.some(isModels);
}

function isModels({ by }: Edit): boolean {
  return by === 'model';
}

function keyOf({ start, end, replacement }: Edit, moved = 0): string {
  return `${start + moved} ${end + moved} ${replacement}`;
}

/** UTF-16 units that two texts begin with alike. */
export function sameHead(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a.charCodeAt(n) === b.charCodeAt(n)) n++;
  return n;
}

export function sameTail(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a.charCodeAt(a.length - 1 - n) === b.charCodeAt(b.length - 1 - n)) n++;
  return n;
}

export function isUndone({ result, flipped }: Review, index: number): boolean {
  const off = settings.kindsOff.includes(result.edits[index]?.kind ?? '');
  return off !== flipped.has(index);
}

export function flip({ flipped }: Review, index: number): void {
  if (!flipped.delete(index)) flipped.add(index);
}

/** Turns a kind off or on, for this text and those to come; what was decided on single edits of it is forgotten. */
export function flipKind({ result, flipped }: Review, kind: string): void {
  const off = settings.kindsOff.includes(kind);
  remember({ kindsOff: off ? settings.kindsOff.filter((other) => other !== kind) : [...settings.kindsOff, kind] });
  result.edits.forEach((edit, index) => edit.kind === kind && flipped.delete(index));
}

export function inForce(current: Review): Edit[] {
  return current.result.edits.filter((_, index) => !isUndone(current, index));
}

/** The text with the edits that are in force. */
export function textOf(current: Review): string {
  return clean(current.raw, current.result.edits, (index) => isUndone(current, index));
}

function clean(raw: string, edits: readonly Edit[], isUndone?: (index: number) => boolean): string {
  return cut(raw, edits, isUndone)
    .clean.map(({ text }) => text)
    .join('');
}

/** For each kind, in the order of the text: how many, how many of them undone. */
export function kindsOf(current: Review): Map<string, { count: number; undone: number }> {
  const kinds = new Map<string, { count: number; undone: number }>();
  current.result.edits.forEach(({ kind }, index) => {
    const entry = kinds.get(kind) ?? { count: 0, undone: 0 };
    entry.count++;
    if (isUndone(current, index)) entry.undone++;
    kinds.set(kind, entry);
  });
  return kinds;
}
