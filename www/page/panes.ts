// The two texts side by side, with the edits marked in both. The raw text is edited in a text area; its marks lie on a
// copy beneath, whose letters are invisible.
import type { Edit } from '../src/index.js';
import { announce, need } from './dom.js';
import { cut, describe, typeOf, type Piece } from './marks.js';

const rawText = need<HTMLTextAreaElement>('raw');
const rawMarks = need('raw-marks');
const clean = need('clean');
const tip = need('tip');
const sheets = [need('raw-sheet'), need('clean-sheet')] as const;

/**
 * Above this length (some three hours of speech) the raw text goes unmarked: laying the copy out again for every key
 * would be felt. The text area then scrolls by itself.
 */
const MAX_MARKED = 200_000;

let edits: readonly Edit[] = [];
let isUndone: (index: number) => boolean = () => false;
let onFlip: (index: number) => void = () => {};
/** The marks of each edit, by its index: one or none in the raw text, one in the cleaned text. */
let rawMark: (HTMLElement | undefined)[] = [];
let cleanMark: (HTMLElement | undefined)[] = [];
let current = -1;

/** Shows the raw text alone: the copy follows every key at once, since it also gives the text area its height. */
export function showRaw(): void {
  const long = rawText.value.length > MAX_MARKED;
  sheets[0].classList.toggle('long', long);
  rawMarks.textContent = long ? '' : `${rawText.value}\n`; // a text area shows a last empty line, a block does not
  rawMark = [];
}

/** Shows a cleaned text, or nothing for an empty one. */
export function showClean(raw: string, newEdits: readonly Edit[], undone: (index: number) => boolean): void {
  point(-1);
  edits = newEdits;
  isUndone = undone;
  const pieces = cut(raw, edits, undone);
  rawMark = [];
  cleanMark = [];
  if (raw.length <= MAX_MARKED) rawMarks.replaceChildren(fragment(pieces.raw, rawMark), '\n');
  clean.replaceChildren(...blocks(pieces.clean).map((block) => {
    const element = document.createElement('div');
    element.append(fragment(block, cleanMark));
    return element;
  }));
}

/** Calls `flip` with the edit that the reader undoes, or brings back, by click or key. */
export function onEdit(flip: (index: number) => void): void {
  onFlip = flip;
}

/** Shows again what has changed in a single edit, and stays at it. */
export function stayAt(index: number): void {
  point(index, { scroll: true });
  const mark = cleanMark[index];
  if (mark) place(mark.getBoundingClientRect());
}

/** Scrolls to a range of the cleaned text and selects it. */
export function reveal(start: number, end: number): void {
  const [from, to] = [position(start), position(end)];
  if (!from || !to) return;
  const range = document.createRange();
  range.setStart(...from);
  range.setEnd(...to);
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
  clean.focus({ preventScroll: true });
  const box = range.getBoundingClientRect();
  const sheet = sheets[1].getBoundingClientRect();
  sheets[1].scrollBy({ top: box.top - sheet.top - sheet.height / 3 });
  sheets[1].scrollIntoView({ block: 'nearest' });
}

/** The place of an offset of the cleaned text in the document. */
function position(offset: number): [Node, number] | undefined {
  const walker = document.createTreeWalker(clean, NodeFilter.SHOW_TEXT);
  let left = offset;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { length } = node as Text;
    if (left <= length) return [node, left];
    left -= length;
  }
  return undefined;
}

/** Groups of some thousand letters that end with a line: the browser skips those that are out of sight. */
function blocks(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [[]];
  let length = 0;
  for (const piece of pieces) {
    const cut = length > 4000 ? piece.text.indexOf('\n') + 1 : 0;
    if (cut && piece.edit === undefined) {
      groups.at(-1)!.push({ text: piece.text.slice(0, cut) });
      groups.push([{ text: piece.text.slice(cut) }]);
      length = piece.text.length - cut;
    } else {
      groups.at(-1)!.push(piece);
      length += piece.text.length;
    }
  }
  return groups;
}

function fragment(pieces: readonly Piece[], marks: (HTMLElement | undefined)[]): DocumentFragment {
  const all = document.createDocumentFragment();
  for (const piece of pieces) all.append(node(piece, marks));
  return all;
}

function node(piece: Piece, marks: (HTMLElement | undefined)[]): Node {
  const edit = piece.edit === undefined ? undefined : edits[piece.edit];
  if (piece.edit === undefined || !edit) return document.createTextNode(piece.text);
  const mark = document.createElement('mark');
  mark.className = typeOf(edit);
  mark.dataset['edit'] = String(piece.edit);
  mark.textContent = piece.text;
  if (!piece.text) mark.classList.add('gone');
  if (isUndone(piece.edit)) mark.classList.add('undone');
  marks[piece.edit] = mark;
  return mark;
}

/** Makes one edit the current one: lit in both panes, explained by the tip. -1: none. */
function point(index: number, { scroll = false } = {}): void {
  for (const mark of [rawMark[current], cleanMark[current]]) mark?.classList.remove('current');
  current = index;
  const edit = edits[index];
  if (!edit) {
    tip.hidden = true;
    return;
  }
  const marks = [rawMark[index], cleanMark[index]];
  for (const mark of marks) {
    mark?.classList.add('current');
    if (scroll) mark?.scrollIntoView({ block: 'nearest' });
  }
  const { kind, change } = describe(edit);
  const title = document.createElement('b');
  title.textContent = kind;
  const undone = isUndone(index);
  const hint = document.createElement('small');
  hint.textContent = undone ? 'undone · click to bring back' : 'click to undo';
  tip.replaceChildren(title, ` ${change} `, hint);
  tip.hidden = false;
  if (scroll) announce(`Edit ${index + 1} of ${edits.length}. ${kind}: ${change}${undone ? ', undone' : ''}.`);
}

/** Puts the tip under a rectangle, inside the window. */
function place({ left, bottom, top }: DOMRect): void {
  tip.style.left = '0'; // near the right edge it would shrink before it is measured
  const { width, height } = tip.getBoundingClientRect();
  const below = bottom + 8 + height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  tip.style.top = `${below ? bottom + 8 : Math.max(8, top - height - 8)}px`;
}

// The text area lies over the marks of the raw text, so the mark under the pointer is looked for in the whole stack.
function hover(event: PointerEvent): void {
  const mark = document
    .elementsFromPoint(event.clientX, event.clientY)
    .find((element): element is HTMLElement => element instanceof HTMLElement && element.dataset['edit'] !== undefined);
  const index = mark ? Number(mark.dataset['edit']) : -1;
  if (index === current) return;
  point(index);
  if (mark) place(mark.getBoundingClientRect());
}

function walk(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  let next: number | undefined;
  if (step && edits.length && !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey) {
    next = current < 0 ? (step > 0 ? 0 : edits.length - 1) : Math.max(0, Math.min(edits.length - 1, current + step));
  } else if (event.key === 'Home' && edits.length) next = 0;
  else if (event.key === 'End' && edits.length) next = edits.length - 1;
  else if (event.key === 'Escape' && current >= 0) next = -1;
  else if (current >= 0 && ['Enter', ' ', 'Delete', 'Backspace'].includes(event.key) && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    return onFlip(current);
  }
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  point(next, { scroll: true });
  const mark = cleanMark[next];
  if (mark) place(mark.getBoundingClientRect());
}

/** Scrolls the other sheet to the same share of its text, while the pointer or the focus is on this one. */
function scrollAlong(sheet: HTMLElement, other: HTMLElement): void {
  const range = sheet.scrollHeight - sheet.clientHeight;
  if (range > 0 && sheet.matches(':hover, :focus-within') && !other.matches(':focus-within')) {
    other.scrollTop = (sheet.scrollTop / range) * (other.scrollHeight - other.clientHeight);
  }
}

sheets[0].addEventListener('scroll', () => scrollAlong(sheets[0], sheets[1]), { passive: true });
sheets[1].addEventListener('scroll', () => scrollAlong(sheets[1], sheets[0]), { passive: true });
for (const pane of [sheets[0], clean]) {
  pane.addEventListener('pointermove', hover);
  pane.addEventListener('pointerleave', () => point(-1));
}
clean.addEventListener('keydown', walk);
clean.addEventListener('click', (event) => {
  const mark = (event.target as Element).closest<HTMLElement>('mark');
  if (mark && getSelection()?.isCollapsed !== false) onFlip(Number(mark.dataset['edit']));
});
clean.addEventListener('blur', () => point(-1));
addEventListener('scroll', () => (tip.hidden = true), { capture: true, passive: true });
