// Which of the edits are in force. Each can be undone, and each kind of them.
import type { CleanupResult, Edit } from '../src/index.js';
import { cut } from './marks.js';
import { remember, settings } from './settings.js';

export interface Review {
  raw: string;
  result: CleanupResult;
  /** Edits that were undone or, where their kind is off, brought back: by index. */
  readonly flipped: Set<number>;
}

export function review(raw: string, result: CleanupResult): Review {
  return { raw, result, flipped: new Set() };
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
  return cut(current.raw, current.result.edits, (index) => isUndone(current, index))
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
