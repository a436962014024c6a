// Tasks, their steps, and the tag: the model's part of the page, with progress while it works and a way out.
import type { CallProgress, Engine, TagResult, TaskItem } from '../src/index.js';
import { announce, button, need } from './dom.js';
import { count, percent } from './format.js';
import { currentEngine } from './model.js';
import { clearProblem, showProblem } from './problem.js';
import { sameHead, sameTail } from './review.js';
import { isOwn, onAdd, showTasks, type Item } from './tasks.js';

const state = need('run-state');
const bar = need<HTMLProgressElement>('run-progress');
const runButton = need<HTMLButtonElement>('run');
const stopButton = button('stop', stop);

export interface Insight {
  /** The text that was asked about. */
  text?: string | undefined;
  /** Absent while nothing is known of tasks. */
  items?: Item[] | undefined;
  tag?: TagResult | undefined;
}

let insight: Insight = {};
let jump: (start: number, end: number) => void = () => {};
let shown: () => string | undefined = () => undefined;
/** What the model is at, and how to end it. */
let work: { kind: 'all' | 'steps'; cancel: AbortController } | undefined;
let textIsThere = false;

/** Calls `to` with the place where a task was said, in the text that `text` gives then. */
export function onJump(text: () => string | undefined, to: (start: number, end: number) => void): void {
  shown = text;
  jump = to;
}

export function currentInsight(): Insight {
  return insight;
}

/** Offers what can be asked when there is a model, a text, and no work. */
export function updateRun(hasText = textIsThere): void {
  textIsThere = hasText;
  runButton.disabled = !hasText || !currentEngine() || work !== undefined;
  show();
}

/** Forgets the answers: they are of another text. Stops the work for the same reason. */
export function clearInsight(): void {
  restoreInsight({});
}

/** Puts answers in the place of those that are shown. */
export function restoreInsight(earlier: Insight): void {
  stop();
  insight = earlier;
  state.textContent = '';
  need('insight-age').hidden = true;
  show();
}

/** Keeps the answers, with what is ticked, marked as those of an earlier text; a run for that text is stopped. */
export function ageInsight(text: string): void {
  if (insight.text === undefined) return;
  if (work?.kind === 'all' && text !== insight.text) stop();
  need('insight-age').hidden = text === insight.text || !(insight.tag || insight.items?.some((item) => !isOwn(item)));
}

export function stop(): void {
  work?.cancel.abort();
}

/** Asks the model about a text. What is ticked or broken down stays so where a task is found again. */
export async function runInsight(text: string): Promise<void> {
  if (!text.trim()) return;
  await working('all', 'The model did not finish.', async (engine, signal) => {
    const problems: unknown[] = [];
    // A text may be too long to tag, and its tasks are worth having all the same.
    const attempt = async <R>(asked: Promise<R>): Promise<R | undefined> => {
      try {
        return await asked;
      } catch (error) {
        if (signal.aborted) throw error;
        problems.push(error);
        return undefined;
      }
    };
    const before = insight;
    const mine: Insight = (insight = { text, items: before.items });
    need('insight-age').hidden = true;
    show();
    try {
      const tasks = await attempt(engine.extractTasks(text, { signal, ...reporting('Tasks') }));
      mine.items = tasks ? found(tasks.tasks, before.items) : before.items?.filter(isOwn);
      show();
      mine.tag = await attempt(engine.tagContent(text, { signal, ...reporting('Tag') }));
      if (!tasks || !mine.tag) throw problems[0];
      announce(`Done: ${count(tasks.tasks.length, 'task')}, topic ${mine.tag.topic}, intent ${mine.tag.intent}.`);
      return mine.tag.usage.completionTokens + tasks.usage.completionTokens;
    } catch (error) {
      // Who has stopped has what there was before, as far as there is nothing new.
      if (signal.aborted && insight === mine && !mine.tag && before.text !== undefined) insight = { ...before, items: mine.items ?? before.items };
      throw error;
    }
  });
}

/** Has the model break a task into steps; once more, and it begins elsewhere. */
async function breakDown(item: Item): Promise<void> {
  await working('steps', 'The task could not be broken down.', async (engine, signal) => {
    const tries = item.tries ?? 0;
    const { steps, usage } = await engine.decomposeTask(item.text, { signal, seed: tries, ...reporting('Steps') });
    item.tries = tries + 1;
    item.steps = steps.map((text) => ({ text, done: false }));
    announce(`${count(steps.length, 'step')} for “${item.text}”.`);
    return usage.completionTokens;
  });
}

onAdd((item) => {
  insight = { ...insight, items: [...(insight.items ?? []), item] };
  show();
});

/** Runs a piece of work of the model's, one at a time, and says what came of it. `body` gives the tokens that it wrote. */
async function working(kind: 'all' | 'steps', failure: string, body: (engine: Engine, signal: AbortSignal) => Promise<number>): Promise<void> {
  const engine = currentEngine();
  if (!engine || work) return;
  const mine = (work = { kind, cancel: new AbortController() });
  const { signal } = mine.cancel;
  clearProblem();
  stopButton.hidden = bar.hidden = false;
  const from = document.activeElement as HTMLElement | null;
  const fromKey = from?.dataset['key'];
  updateRun();
  stopButton.focus();
  const began = performance.now();
  try {
    const tokens = await body(engine, signal);
    const written = tokens ? ` · ${count(tokens, 'token')} written` : ''; // where the rules are sure, there are none
    state.textContent = `Done in ${((performance.now() - began) / 1000).toFixed(1)} s${written}`;
  } catch (error) {
    state.textContent = signal.aborted ? 'Cancelled.' : 'Not finished.';
    showProblem(failure, error);
  } finally {
    const held = document.activeElement === stopButton;
    work = undefined;
    stopButton.hidden = bar.hidden = true;
    updateRun();
    if (held) (fromKey ? document.querySelector<HTMLElement>(`[data-key="${CSS.escape(fromKey)}"]`) ?? runButton : runButton).focus();
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

/** What was found, with what the reader did to the same tasks before, and the reader's own behind. */
function found(tasks: readonly TaskItem[], before: readonly Item[] = []): Item[] {
  const items = tasks.map((task): Item => {
    const same = before.find((item) => !isOwn(item) && item.text === task.text);
    return { ...task, done: same?.done ?? false, ...(same?.steps && { steps: same.steps, tries: same.tries ?? 0 }) };
  });
  return [...items, ...before.filter(isOwn)];
}

function show(): void {
  const { items, tag, text } = insight;
  const asked = text !== undefined && (work?.kind !== 'all' || items);
  showTasks(items ?? [], asked ? 'The model found no tasks.' : 'What the speaker promised to do.', {
    breakDown: currentEngine() && ((item) => void breakDown(item)),
    busy: work !== undefined,
    jump: (start, end) => jump(...moved(start, end)),
    remove(item) {
      insight = { ...insight, items: insight.items?.filter((other) => other !== item) };
      show();
    },
  });
  need('tag').hidden = !tag;
  need('tag-note').hidden = Boolean(tag);
  need('topic').textContent = tag?.topic ?? '';
  need('intent').textContent = tag?.intent ?? '';
}

/** A range of the text that was asked about, in the one that is shown: what lies before all changes, or behind, moves as a whole. */
function moved(start: number, end: number): [number, number] {
  const [before, now] = [insight.text ?? '', shown() ?? ''];
  const head = sameHead(before, now);
  const tail = Math.min(sameTail(before, now), before.length - head, now.length - head);
  const by = now.length - before.length;
  const place = (at: number) => (at <= head ? at : at >= before.length - tail ? at + by : Math.min(at, now.length - tail));
  return [place(start), place(end)];
}
