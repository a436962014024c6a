// The page: a text comes in by keyboard, clipboard, file or drop; rules clean it at once; the model is asked on request.
import { loadCleaner, type CleanupResult, type Cleaner, type Level, type Preset, type Transcript } from '../src/index.js';
import { announce, button, need, save } from './dom.js';
import { clock, count, words } from './format.js';
import { clearInsight, currentInsight, runInsight, stop, updateRun } from './insight.js';
import { countByType, type MarkType } from './marks.js';
import { openModel, startModel } from './model.js';
import { showClean, showRaw } from './panes.js';
import { clearProblem, showProblem } from './problem.js';

const raw = need<HTMLTextAreaElement>('raw');
const file = need<HTMLInputElement>('file');
const level = need<HTMLSelectElement>('level');
const preset = need<HTMLSelectElement>('preset');
const dictionary = need<HTMLInputElement>('dictionary');
const drop = need('drop');
const outputs = ['copy', 'save-text', 'save-json'].map((id) => need<HTMLButtonElement>(id));

/** Rules in a worker of their own: they answer at once, whatever the model is doing. */
const cleaner: Promise<Cleaner> = loadCleaner();
let cleaned: { raw: string; result: CleanupResult } | undefined;
let transcript: Transcript | undefined;
let cleaning: AbortController | undefined;
let pause: ReturnType<typeof setTimeout> | undefined;

// ── The text ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function setText(text: string, from?: Transcript): void {
  transcript = from;
  raw.value = text;
  textChanged();
  raw.scrollIntoView({ block: 'nearest' });
}

function textChanged(): void {
  showRaw();
  clearInsight();
  clearProblem();
  const facts = [count(words(raw.value), 'word')];
  const end = transcript?.segments.at(-1)?.endTime ?? null;
  if (end !== null) facts.push(clock(end));
  const speakers = new Set(transcript?.segments.flatMap(({ speaker }) => speaker ?? [])).size;
  if (speakers > 1) facts.push(count(speakers, 'speaker'));
  need('raw-facts').textContent = raw.value.trim() ? facts.join(' · ') : '';
  updateRun(hasText());
  for (const output of outputs) output.disabled = true; // what they would give is of the text before
  // A short text is cleaned with every key; a long one when the typing rests.
  clearTimeout(pause);
  pause = setTimeout(() => void clean(), raw.value.length < 20_000 ? 0 : 400);
}

function optionsChanged(): void {
  clearInsight();
  void clean();
}

function hasText(): boolean {
  return raw.value.trim() !== '';
}

/** Whether the problem on show is that the text could not be cleaned. */
let failed = false;

async function clean(): Promise<void> {
  cleaning?.abort();
  const mine = (cleaning = new AbortController());
  const text = raw.value;
  if (!hasText()) return showResult(undefined);
  try {
    const result = await (await cleaner).cleanup(text, {
      signal: mine.signal,
      level: level.value as Level,
      preset: preset.value as Preset,
      dictionary: terms(),
    });
    if (cleaning !== mine) return;
    if (failed) clearProblem();
    failed = false;
    showResult({ raw: text, result });
  } catch (error) {
    if (cleaning !== mine) return;
    failed = true;
    showResult(undefined);
    showProblem('The text could not be cleaned.', error);
  }
}

function terms(): string[] {
  return dictionary.value.split(',').map((term) => term.trim()).filter(Boolean);
}

function showResult(next: typeof cleaned): void {
  cleaned = next;
  const edits = next?.result.edits ?? [];
  showClean(next?.raw ?? raw.value, edits);
  if (!next) need('clean').replaceChildren();
  need('clean-empty').hidden = next !== undefined;
  const counts = countByType(edits);
  for (const type of Object.keys(counts) as MarkType[]) need(`count-${type}`).textContent = counts[type].toLocaleString('en');
  need('clean-facts').textContent = next ? `${count(words(next.result.text), 'word')} · ${count(edits.length, 'edit')}` : '';
  for (const output of outputs) output.disabled = !next;
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────────────────────────

// An hour of speech is some 60 kB of text, or 1 MB with the time of every word.
const MAX_FILE = 64e6;

async function openFile(chosen: File): Promise<void> {
  if (/\.gguf$/i.test(chosen.name)) return openModel(chosen);
  try {
    if (chosen.size > MAX_FILE) throw new Error('It is too large to be a transcript.');
    await read(await chosen.arrayBuffer(), chosen.name);
  } catch (error) {
    showProblem(`${chosen.name} could not be read.`, error);
  }
}

async function read(content: string | ArrayBuffer, name: string): Promise<void> {
  const found = await (await cleaner).readTranscript(content, name);
  setText(found.text, found);
  announce(`${name} is open: ${count(words(found.text), 'word')}.`);
}

function carriesFile(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

// ── Wiring ───────────────────────────────────────────────────────────────────────────────────────────────────────────

// The model is asked about the cleaned text: dictated marks and take-backs would mislead it.
const run = async () => {
  if (cleaned?.raw !== raw.value) {
    clearTimeout(pause);
    await clean();
  }
  await runInsight(cleaned?.raw === raw.value ? cleaned.result.text : raw.value, () => updateRun(hasText()));
};

raw.addEventListener('input', () => {
  transcript = undefined; // its times are of another text now
  textChanged();
});
for (const option of [level, preset]) option.addEventListener('change', optionsChanged);
dictionary.addEventListener('input', optionsChanged);
need<HTMLFormElement>('options').addEventListener('submit', (event) => event.preventDefault());

button('open', () => file.click());
file.addEventListener('change', () => {
  const chosen = file.files?.[0];
  file.value = '';
  if (chosen) void openFile(chosen);
});
button('clear', () => {
  setText('');
  raw.focus();
});
button('sample', () => {
  fetch('page/sample.vtt')
    .then((response) => response.text())
    .then((text) => read(text, 'sample.vtt'))
    .catch((error: unknown) => showProblem('The sample could not be read.', error));
});
button('run', () => void run());

button('copy', () => {
  navigator.clipboard.writeText(cleaned?.result.text ?? '').then(
    () => flash('copy', 'Copied'),
    (error: unknown) => showProblem('The browser did not allow copying.', error),
  );
});
button('save-text', () => save('cleaned.txt', 'text/plain', cleaned?.result.text ?? ''));
button('save-json', () => {
  if (!cleaned) return;
  const { tasks, tag } = currentInsight();
  const { raw, result } = cleaned;
  const content = { raw, ...result, tasks: tasks?.tasks ?? null, tag: tag ? { topic: tag.topic, intent: tag.intent } : null };
  save('cleaned.json', 'application/json', `${JSON.stringify(content, null, 2)}\n`);
});

/** Shows on a button, for a moment, that it has worked. */
function flash(id: string, text: string): void {
  const element = need(id);
  const label = (element.dataset['label'] ??= element.textContent ?? '');
  element.textContent = text;
  announce(text);
  setTimeout(() => (element.textContent = label), 1500);
}

addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
  else if (event.key === 'Escape') stop();
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
  const dropped = event.dataTransfer?.files[0];
  if (dropped) void openFile(dropped);
});

async function start(): Promise<void> {
  textChanged(); // a browser may bring back what was in the text area
  try {
    await cleaner;
  } catch (error) {
    return showProblem('Fairhand cannot start in this browser.', error);
  }
  await startModel(() => updateRun(hasText()));
}

void start();
