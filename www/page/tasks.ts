// The list of tasks: each with a box to tick, a way to where it was said, and its steps.
import type { TaskItem } from '../src/index.js';
import { need } from './dom.js';

const list = need('tasks');
const added = need<HTMLInputElement>('task-new');

export interface Step {
  text: string;
  done: boolean;
}

/** Something to do, found in the text or added by the reader. */
export interface Item extends TaskItem {
  done: boolean;
  steps?: Step[];
  /** How often it has been broken down: each time the model begins elsewhere. */
  tries?: number;
}

/** Who an item is by that the reader has added. */
const READER = 'reader';

export function isOwn({ by }: Item): boolean {
  return by === READER;
}

/** What can be done with the tasks. */
interface Actions {
  /** Absent while there is no model to ask for steps. */
  breakDown: ((item: Item) => void) | undefined;
  /** Whether the model is at something. */
  busy: boolean;
  jump: (start: number, end: number) => void;
  remove: (item: Item) => void;
}

/** Calls `add` with what the reader has to do beside what was found. */
export function onAdd(add: (item: Item) => void): void {
  need<HTMLFormElement>('task-add').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = added.value.replace(/\s+/g, ' ').trim();
    if (!text) return;
    added.value = '';
    add({ text, by: READER, done: false });
  });
}

/** Shows tasks, or a note in their place. */
export function showTasks(items: readonly Item[], note: string, actions: Actions): void {
  const held = list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset['key'] : undefined;
  list.replaceChildren(...items.map((item, index) => row(item, String(index), actions)));
  const place = need('tasks-note');
  place.hidden = items.length > 0;
  place.textContent = note;
  if (held) list.querySelector<HTMLElement>(`[data-key="${CSS.escape(held)}"]`)?.focus();
}

function row(item: Item, key: string, { breakDown, busy, jump, remove }: Actions): HTMLElement {
  const element = document.createElement('li');
  const { text, start, end, steps } = item;
  const line = document.createElement('div');
  line.className = 'task';
  line.append(tick(item, key));
  if (start !== undefined && end !== undefined) line.append(act('Show', `Show where “${text}” was said`, `${key} show`, () => jump(start, end)));
  if (breakDown) {
    const label = steps ? 'Other steps' : 'Break down';
    const control = act(label, `${label}: “${text}”`, `${key} steps`, () => breakDown(item));
    control.disabled = busy;
    line.append(control);
  }
  if (isOwn(item)) line.append(act('Remove', `Remove “${text}”`, `${key} remove`, () => (remove(item), added.focus())));
  element.append(line);
  if (steps) {
    const inner = document.createElement('ol');
    inner.setAttribute('aria-label', `Steps of “${text}”`);
    inner.append(...steps.map((step, at) => {
      const entry = document.createElement('li');
      entry.append(tick(step, `${key} ${at}`));
      return entry;
    }));
    element.append(inner);
  }
  return element;
}

/** A box to tick, with the text of what it is about. */
function tick(thing: Item | Step, key: string): HTMLElement {
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = thing.done;
  box.dataset['key'] = key;
  box.addEventListener('change', () => (thing.done = box.checked));
  const words = document.createElement('span');
  words.dir = 'auto';
  words.textContent = thing.text;
  label.append(box, words);
  return label;
}

function act(label: string, name: string, key: string, action: () => void): HTMLButtonElement {
  const control = document.createElement('button');
  control.type = 'button';
  control.className = 'quiet';
  control.dataset['key'] = key;
  control.textContent = label;
  control.setAttribute('aria-label', name);
  control.addEventListener('click', action);
  return control;
}
