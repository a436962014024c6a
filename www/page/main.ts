// The page: a text comes in by keyboard, clipboard, file, drop or voice; rules clean it at once; when the typing rests, the
// model is asked what they leave open; for tasks and a tag it is asked on request.
import { FairhandError, loadCleaner, type CleanupOptions, type CleanupResult, type Cleaner, type Level, type Preset, type Transcript } from '../src/index.js';
import { exported, type Format } from '../src/export.js';
import { told } from '../src/notices.js';
import { startDictation, stopDictation } from './dictation.js';
import { announce, button, need, save } from './dom.js';
import { keepDraft, keptDraft } from './draft.js';
import { clock, count, words } from './format.js';
import { ageInsight, clearInsight, currentInsight, onJump, restoreInsight, runInsight, stop, updateRun, type Insight } from './insight.js';
import { joined } from './join.js';
import { startLibrary } from './library.js';
import { kinds, typeOf } from './marks.js';
import { currentEngine, loadModel, openModel, startModel } from './model.js';
import { goOffline } from './offline.js';
import { onEdit, reveal, showClean, showRaw, stayAt } from './panes.js';
import { clearProblem, showProblem, showProblems, type Problem } from './problem.js';
import { flip, flipKind, inForce, isUndone, isWeighed, kindsOf, review, textOf, type Review } from './review.js';
import { remember, settings } from './settings.js';
import { isPutting, put } from './typing.js';

const raw = need<HTMLTextAreaElement>('raw');
const file = need<HTMLInputElement>('file');
const level = need<HTMLSelectElement>('level');
const preset = need<HTMLSelectElement>('preset');
const dictionary = need<HTMLInputElement>('dictionary');
const format = need<HTMLSelectElement>('format');
const drop = need('drop');
const outputs = ['copy', 'save'].map((id) => need<HTMLButtonElement>(id));

/** Rules in a worker of their own: they answer at once, whatever the model is doing. */
const cleaner: Promise<Cleaner> = loadCleaner();
let current: Review | undefined;
let transcript: Transcript | undefined;
let name = '';
let cleaning: AbortController | undefined;
let pause: ReturnType<typeof setTimeout> | undefined;
let rest: ReturnType<typeof setTimeout> | undefined;
let refining: AbortController | undefined;

/** How long a text rests before the model is asked about it. */
const REST_MS = 1_000;

// ── The text ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A text that another has taken the place of, for the button that brings it back. */
interface Earlier {
  text: string;
  transcript: Transcript | undefined;
  name: string;
  /** What was known of it, ticks included. */
  insight?: Insight;
}
let earlier: Earlier | undefined;
/** The last texts that were opened or replaced: an undo that comes back to one has its times, tasks and tag again. */
let known: Earlier[] = [];
const MAX_KNOWN = 8;

function know(one: Earlier): void {
  if (hasWords(one.text)) known = [one, ...known.filter(({ text }) => text !== one.text)].slice(0, MAX_KNOWN);
}

/** Puts a text in the place of the one before, in such a way that the browser's undo and a button can take it back. */
function setText(text: string, from?: Transcript, fileName = ''): void {
  const before = { text: raw.value, transcript, name, insight: currentInsight() };
  know(before);
  put(raw, text);
  transcript = from;
  name = fileName;
  if (from) know({ text, transcript: from, name });
  need('raw-note').textContent = '';
  clearInsight();
  textChanged();
  offerEarlier(hasWords(before.text) && before.text !== text ? before : undefined);
  raw.scrollIntoView({ block: 'nearest' });
}

function offerEarlier(before: Earlier | undefined): void {
  earlier = before;
  const control = need('back');
  const held = document.activeElement === control;
  control.hidden = before === undefined;
  if (held && control.hidden) raw.focus();
}

/** The reader has changed the text. Where it is one that was there before, what was known of it holds again. */
function typed(): void {
  const before = known.find(({ text }) => text === raw.value);
  transcript = before?.transcript; // times are of one text alone
  if (before) name = before.name;
  if (before?.insight && currentInsight().text === undefined) restoreInsight(before.insight);
  offerEarlier(undefined);
  textChanged();
}

function textChanged(): void {
  showRaw();
  if (!hasText()) clearInsight();
  keepDraft({ text: raw.value, transcript, name });
  const facts = [count(words(raw.value), 'word')];
  const end = transcript?.segments.at(-1)?.endTime ?? null;
  if (end !== null) facts.push(clock(end));
  const speakers = new Set(transcript?.segments.flatMap(({ speaker }) => speaker ?? [])).size;
  if (speakers > 1) facts.push(count(speakers, 'speaker'));
  need('raw-facts').textContent = raw.value.trim() ? facts.join(' · ') : '';
  updateRun(hasText());
  need('sample').hidden = raw.value !== '';
  need('clear').hidden = raw.value === '';
  for (const output of outputs) output.disabled = true; // what they would give is of the text before
  // A short text is cleaned with every key; a long one when the typing rests.
  clearTimeout(pause);
  pause = setTimeout(() => void clean(), raw.value.length < 20_000 ? 0 : 400);
}

function optionsChanged(): void {
  remember({ level: level.value as Level, preset: preset.value as Preset, dictionary: dictionary.value });
  clearInsight();
  void clean({ anew: true });
}

function hasText(): boolean {
  return hasWords(raw.value);
}

function hasWords(text: string): boolean {
  return text.trim() !== '';
}

/** Whether the problem on show is that the text could not be cleaned. */
let failed = false;

/** What was decided on the text before stays where the text does, unless it is to be decided anew. */
async function clean({ anew = false } = {}): Promise<void> {
  stopRefining();
  cleaning?.abort();
  const mine = (cleaning = new AbortController());
  const text = raw.value;
  if (!hasText()) return showResult(undefined);
  try {
    const result = await cleanedWith(await cleaner, text, { signal: mine.signal });
    if (cleaning !== mine) return;
    if (failed) clearProblem();
    failed = false;
    const next = review(text, result, anew ? undefined : current);
    ageInsight(textOf(next));
    showResult(next);
    refineSoon();
  } catch (error) {
    if (cleaning !== mine) return;
    failed = true;
    showResult(undefined);
    showProblem('The text could not be cleaned.', error);
  }
}

/** Has the model choose what the rules leave open, once the text has rested. */
function refineSoon(): void {
  stopRefining();
  rest = setTimeout(() => void refine(), REST_MS);
}

function stopRefining(): void {
  clearTimeout(rest);
  refining?.abort();
}

/** Puts the model's choices in the place of the rules', unless the reader has begun to work with those. */
async function refine(): Promise<void> {
  const engine = currentEngine();
  const shown = current;
  const { signal } = (refining = new AbortController());
  const isFree = () => {
    const touched = shown?.flipped.size !== 0 || need('clean').contains(document.activeElement) || currentInsight().text !== undefined;
    return !signal.aborted && current === shown && !touched;
  };
  if (!engine || !shown || !isFree()) return;
  try {
    const result = await cleanedWith(engine, shown.raw, { signal, priority: 'background' });
    if (isFree()) showResult(review(shown.raw, result, shown));
  } catch {
    // The rules' answer stands.
  }
}

/** Terms that the engine does not take are left out, and the reader is told which they are. */
async function cleanedWith(engine: Cleaner, text: string, call: Pick<CleanupOptions, 'signal' | 'priority'>): Promise<CleanupResult> {
  const options = { ...call, level: level.value as Level, preset: preset.value as Preset };
  const all = terms();
  const note = need('dictionary-note');
  try {
    const result = await engine.cleanup(text, { ...options, dictionary: all });
    note.textContent = '';
    return result;
  } catch (error) {
    if (!all.length || !(error instanceof FairhandError) || error.code !== 'invalid-argument') throw error;
    const odd = new Set<string>();
    for (const term of all) await engine.cleanup('a', { ...options, dictionary: [term] }).catch(() => odd.add(term));
    const usable = odd.size ? all.filter((term) => !odd.has(term)) : [];
    note.textContent = odd.size ? `Left out: ${[...odd].join(', ')}.` : 'Left out: there are too many terms.';
    return engine.cleanup(text, { ...options, dictionary: usable });
  }
}

function terms(): string[] {
  return dictionary.value.split(',').map((term) => term.trim()).filter(Boolean);
}

function showResult(next: Review | undefined): void {
  current = next;
  const edits = next?.result.edits ?? [];
  showClean(next?.raw ?? raw.value, edits, (index) => next !== undefined && isUndone(next, index));
  if (!next) need('clean').replaceChildren();
  need('clean-empty').hidden = next !== undefined;
  showKinds();
  const undone = next ? edits.length - inForce(next).length : 0;
  need('clean-facts').textContent = next
    ? `${count(words(textOf(next)), 'word')} · ${count(edits.length, 'edit')}${undone ? `, ${undone} undone` : ''}${isWeighed(next) ? ' · weighed by the model' : ''}`
    : '';
  for (const output of outputs) output.disabled = !next;
}

/** A switch for each kind of edit in the text. */
function showKinds(): void {
  const bar = need('kinds');
  const held = bar.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset['kind'] : undefined;
  const found = current ? kindsOf(current) : new Map<string, { count: number; undone: number }>();
  // A kind that is off stays in sight, whether or not this text has any of it.
  for (const kind of current ? settings.kindsOff : []) if (!found.has(kind)) found.set(kind, { count: 0, undone: 0 });
  const entries = [...found];
  bar.replaceChildren(
    ...entries.map(([kind, { count: n, undone }]) => {
      const chip = document.createElement('button');
      chip.type = 'button';
      chip.dataset['kind'] = kind;
      const first = current?.result.edits.find((edit) => edit.kind === kind);
      chip.className = `chip ${first ? typeOf(first) : ''}`;
      chip.setAttribute('aria-pressed', String(!settings.kindsOff.includes(kind)));
      const number = document.createElement('b');
      number.textContent = undone && undone < n ? `${n - undone} of ${n}` : String(n);
      const label = document.createElement('span');
      label.textContent = kinds[kind] ?? kind;
      chip.append(label, settings.kindsOff.includes(kind) ? ' off ' : ' ', number);
      chip.addEventListener('click', () => {
        if (!current) return;
        flipKind(current, kind);
        edited();
        announce(`${kinds[kind] ?? kind}: ${settings.kindsOff.includes(kind) ? 'undone' : 'in force'}.`);
      });
      return chip;
    }),
  );
  need('clean-help').hidden = entries.length === 0;
  if (held) bar.querySelector<HTMLElement>(`[data-kind="${CSS.escape(held)}"]`)?.focus();
}

/** The reader has undone something, or brought it back: what was found in the text is of the one before. */
function edited(): void {
  if (current) ageInsight(textOf(current));
  showResult(current);
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────────────────────────

// An hour of speech is some 60 kB of text, or 1 MB with the time of every word.
const MAX_FILE = 64e6;

/** Opens what was chosen or dropped: transcripts one after the other as one text, and a model. */
async function openFiles(chosen: readonly File[]): Promise<void> {
  clearProblem();
  const problems: Problem[] = [];
  const isModel = (one: File) => /\.gguf$/i.test(one.name);
  const [model, ...more] = chosen.filter(isModel);
  for (const { name: left } of more) problems.push([`${left} was left out.`, new Error('Only one model can be used at a time.')]);
  if (model) void openModel(model);
  const texts = chosen.filter((one) => !isModel(one)).sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  const read: Transcript[] = [];
  const notes: string[] = [];
  for (const one of texts) {
    try {
      if (one.size > MAX_FILE) throw new Error('It is too large to be a transcript.');
      const found = await (await cleaner).readTranscript(await one.arrayBuffer(), one.name);
      if (!hasWords(found.text)) throw new Error('It holds no text.');
      for (const notice of told(found.notices)) notes.push(texts.length > 1 ? `${one.name}: ${notice}` : notice);
      read.push(found);
    } catch (error) {
      problems.push([`${one.name} could not be read.`, error]);
    }
  }
  if (read.length) opened(joined(read), texts.length === 1 ? texts[0]!.name : count(read.length, 'file'), notes);
  // Last, so that it stays: what has been opened is not the news.
  if (problems.length) showProblems(problems);
}

function opened(found: Transcript, from: string, notes: readonly string[] = []): void {
  setText(found.text, found, from.replace(/\.\w+$/, ''));
  need('raw-note').textContent = notes.join(' ');
  announce(`${from} open: ${count(words(found.text), 'word')}.`);
}

function carriesFile(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

// ── Wiring ───────────────────────────────────────────────────────────────────────────────────────────────────────────

// The model is asked about the cleaned text: dictated marks and take-backs would mislead it.
const run = async () => {
  stopRefining();
  if (current?.raw !== raw.value) {
    clearTimeout(pause);
    await clean();
  }
  await runInsight(current?.raw === raw.value ? textOf(current) : raw.value);
};

level.value = settings.level;
preset.value = settings.preset;
dictionary.value = settings.dictionary;
format.value = settings.format;

raw.addEventListener('input', () => {
  if (!isPutting) typed();
});
for (const option of [level, preset]) option.addEventListener('change', optionsChanged);
dictionary.addEventListener('input', optionsChanged);
format.addEventListener('change', () => remember({ format: format.value }));
need<HTMLFormElement>('options').addEventListener('submit', (event) => event.preventDefault());

onEdit((index) => {
  if (!current) return;
  flip(current, index);
  edited();
  stayAt(index);
});
onJump(() => current && textOf(current), reveal);
startDictation((said) => {
  if (!said) return;
  const end = raw.value.length;
  put(raw, raw.value && !/\s$/.test(raw.value) ? ` ${said}` : said, end, end);
  typed();
  raw.scrollIntoView({ block: 'nearest' });
});
startLibrary((url, label) => void loadModel(url, label));

button('open', () => file.click());
file.addEventListener('change', () => {
  const chosen = [...(file.files ?? [])];
  file.value = '';
  void openFiles(chosen);
});
button('clear', () => {
  setText('');
  announce('The text is cleared. It can be brought back.');
  // With a mouse or keys the next key undoes it, or begins a new text; on a touch screen the focus would open the keyboard.
  if (!matchMedia('(pointer: coarse)').matches) raw.focus();
});
button('back', () => {
  if (!earlier) return;
  const { text, transcript: from, name: fileName, insight } = earlier;
  setText(text, from, fileName);
  if (insight) restoreInsight(insight);
  announce('The text before is back.');
});
button('sample', () => {
  fetch('page/sample.vtt')
    .then((response) => response.text())
    .then(async (text) => opened(await (await cleaner).readTranscript(text, 'sample.vtt'), 'sample.vtt'))
    .catch((error: unknown) => showProblem('The sample could not be read.', error));
});
button('run', () => void run());

button('copy', () => {
  navigator.clipboard.writeText(current ? textOf(current) : '').then(
    () => flash('copy', 'Copied'),
    (error: unknown) => showProblem('The browser did not allow copying.', error),
  );
});
button('save', () => {
  if (!current) return;
  const { items, tag } = currentInsight();
  const chosen = format.value as Format;
  const content = exported(chosen, {
    transcript: transcript ?? { text: current.raw, segments: [], notices: [] },
    edits: inForce(current),
    text: textOf(current),
    result: current.result,
    title: name,
    tasks: items?.map(({ tries, ...task }) => task),
    tag,
  });
  save(`${name || 'transcript'}.clean.${chosen}`, TYPES[chosen], content);
});

const TYPES: Record<Format, string> = {
  txt: 'text/plain',
  md: 'text/markdown',
  srt: 'application/x-subrip',
  vtt: 'text/vtt',
  json: 'application/json',
};

/** Shows on a button, for a moment, that it has worked. */
function flash(id: string, text: string): void {
  const element = need(id);
  const label = (element.dataset['label'] ??= element.textContent ?? '');
  element.textContent = text;
  announce(text);
  setTimeout(() => (element.textContent = label), 1500);
}

addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
  else if (event.key === 'Escape') {
    stop();
    stopDictation();
  }
});

let depth = 0; // dragenter and dragleave come for every element that is crossed
addEventListener('dragenter', (event) => {
  if (!carriesFile(event)) return;
  depth++;
  drop.hidden = false;
});
addEventListener('dragleave', (event) => {
  if (carriesFile(event) && --depth <= 0) drop.hidden = true;
});
addEventListener('dragover', (event) => {
  if (carriesFile(event)) event.preventDefault();
});
addEventListener('drop', (event) => {
  if (!carriesFile(event)) return;
  event.preventDefault();
  depth = 0;
  drop.hidden = true;
  void openFiles([...(event.dataTransfer?.files ?? [])]);
});

async function start(): Promise<void> {
  const kept = keptDraft();
  if (kept && (raw.value === '' || raw.value === kept.text)) {
    raw.value = kept.text;
    ({ transcript, name } = { transcript: kept.transcript, name: kept.name });
    know({ text: kept.text, transcript, name });
  }
  textChanged(); // a browser may bring back what was in the text area
  try {
    await cleaner;
  } catch (error) {
    const isOld = error instanceof FairhandError && error.code === 'unsupported-environment';
    need('model-state').textContent = isOld ? 'Nothing can be done here: it needs another browser.' : 'Not started: load the page again.';
    return showProblem('Fairhand cannot start in this browser.', error);
  }
  await startModel(() => {
    updateRun(hasText());
    refineSoon();
  });
  await goOffline();
}

void start();
