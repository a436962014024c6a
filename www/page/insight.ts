// Tasks and tag: the model's part of the page, with progress while it works and a way out.
import type { CallProgress, TagResult, TaskItem, TasksResult } from '../src/index.js';
import { announce, button, need } from './dom.js';
import { count, percent } from './format.js';
import { currentEngine } from './model.js';
import { clearProblem, showProblem } from './problem.js';

const state = need('run-state');
const bar = need<HTMLProgressElement>('run-progress');
const runButton = need<HTMLButtonElement>('run');
const stopButton = button('stop', stop);

export interface Insight {
  /** The text that was asked about. */
  text?: string | undefined;
  /** Indices of the tasks that are ticked off. */
  done?: Set<number>;
  /** Absent while unknown, and where the model could not say. */
  tasks?: TasksResult | undefined;
  tag?: TagResult | undefined;
}

let insight: Insight = {};
let jump: (start: number, end: number) => void = () => {};

/** Calls `to` with the place in the cleaned text where a task was said. */
export function onJump(to: (start: number, end: number) => void): void {
  jump = to;
}
let cancel: AbortController | undefined;

export function currentInsight(): Insight {
  return insight;
}

/** Offers the button when there is a model, a text, and no run. */
export function updateRun(hasText: boolean): void {
  runButton.disabled = !hasText || !currentEngine() || cancel !== undefined;
}

/** Forgets the answers: they are of another text. Stops a run for the same reason. */
export function clearInsight(): void {
  stop();
  insight = {};
  state.textContent = '';
  show();
}

export function stop(): void {
  cancel?.abort();
}

/** Asks the model about a text. Calls `changed` when the run begins and ends. */
export async function runInsight(text: string, changed: () => void): Promise<void> {
  const engine = currentEngine();
  if (!engine || cancel || !text.trim()) return;
  const mine = (cancel = new AbortController());
  const { signal } = mine;
  clearProblem();
  insight = { text, done: new Set() };
  show();
  stopButton.hidden = bar.hidden = false;
  changed();
  stopButton.focus();
  const began = performance.now();
  try {
    const problems: unknown[] = [];
    // A text may be too long to tag, and its tasks are worth having all the same.
    const attempt = async <R>(work: Promise<R>): Promise<R | undefined> => {
      try {
        return await work;
      } catch (error) {
        if (signal.aborted) throw error;
        problems.push(error);
        return undefined;
      }
    };
    insight.tasks = await attempt(engine.extractTasks(text, { signal, ...reporting('Tasks') }));
    show();
    insight.tag = await attempt(engine.tagContent(text, { signal, ...reporting('Tag') }));
    show();
    if (!insight.tasks || !insight.tag) throw problems[0];
    const tokens = insight.tag.usage.completionTokens + insight.tasks.usage.completionTokens;
    state.textContent = `Done in ${((performance.now() - began) / 1000).toFixed(1)} s · ${count(tokens, 'token')} written`;
    announce(`Done: ${count(insight.tasks.tasks.length, 'task')}, topic ${insight.tag.topic}, intent ${insight.tag.intent}.`);
  } catch (error) {
    state.textContent = signal.aborted ? 'Cancelled.' : 'Not finished.';
    showProblem('The model did not finish.', error);
  } finally {
    const held = document.activeElement === stopButton;
    cancel = undefined;
    stopButton.hidden = bar.hidden = true;
    changed();
    if (held) runButton.focus();
  }
}

/** Callbacks that show how far one call has come. */
function reporting(what: string) {
  let written = 0;
  let first = 0;
  bar.removeAttribute('value');
  state.textContent = `${what}: at work …`; // rules answer in a moment, and a weighing has no end to count towards
  return {
    onProgress({ phase, done, total }: CallProgress) {
      if (phase === 'prefill') {
        bar.value = done / total;
        state.textContent = `${what}: reading the text … ${percent(done, total)}`;
      } else if (phase === 'decode') {
        bar.removeAttribute('value'); // how long the answer will be is not known
        const now = performance.now();
        if (!written) first = now;
        const rate = done > written && now > first ? ` · ${((done * 1000) / (now - first)).toFixed(1)} tokens/s` : '';
        if (rate || !written) state.textContent = `${what}: writing … ${count(done, 'token')}${rate}`;
        written = done;
      }
    },
  };
}

function show(): void {
  const { tasks, tag } = insight;
  need('tasks').replaceChildren(...(tasks?.tasks ?? []).map(row));
  const tasksNote = need('tasks-note');
  tasksNote.hidden = Boolean(tasks?.tasks.length);
  tasksNote.textContent = tasks ? 'The model found no tasks.' : 'What the speaker promised to do.';
  need('tag').hidden = !tag;
  need('tag-note').hidden = Boolean(tag);
  need('topic').textContent = tag?.topic ?? '';
  need('intent').textContent = tag?.intent ?? '';
}

/** A task: a box to tick, and a way to where it was said. */
function row({ text, start, end }: TaskItem, index: number): HTMLElement {
  const item = document.createElement('li');
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = insight.done?.has(index) ?? false;
  box.addEventListener('change', () => {
    if (box.checked) insight.done?.add(index);
    else insight.done?.delete(index);
  });
  const words = document.createElement('span');
  words.textContent = text;
  label.append(box, words);
  item.append(label);
  if (start !== undefined && end !== undefined) {
    const where = document.createElement('button');
    where.type = 'button';
    where.className = 'quiet';
    where.textContent = 'Show';
    where.setAttribute('aria-label', `Show where “${text}” was said`);
    where.addEventListener('click', () => jump(start, end));
    item.append(where);
  }
  return item;
}
