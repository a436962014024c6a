// The side panel: a note goes in, what was found comes out, and everything found before can be searched by its tag.
import { need } from '../page/dom.js';
import { MODEL_FILE, POWERS, isMessage, type Message, type Note, type Power } from './messages.js';
import { allNotes, forget, forgetAll } from './notes.js';

const text = need<HTMLTextAreaElement>('text');
const search = need<HTMLInputElement>('search');
const list = need('notes');
const model = need<HTMLInputElement>('model-file');
const state = need('model-state');

for (const power of Object.keys(POWERS) as Power[]) {
  need(`do-${power}`).addEventListener('click', () => void begin(power));
}
search.addEventListener('input', () => void show());
need('model').addEventListener('click', () => model.click());
model.addEventListener('change', () => void useModel());
/** Notes cannot be brought back: the first click asks, the second does it. */
const ASK_MS = 5_000;
const forgetButton = need('forget-all');
const forgetLabel = forgetButton.textContent;
let asking: ReturnType<typeof setTimeout> | undefined;
forgetButton.addEventListener('click', async () => {
  const sure = asking !== undefined;
  clearTimeout(asking);
  asking = sure ? undefined : setTimeout(() => ((asking = undefined), (forgetButton.textContent = forgetLabel)), ASK_MS);
  forgetButton.textContent = sure ? forgetLabel : 'Remove all for good?';
  if (!sure) return;
  await forgetAll();
  await show();
});
chrome.runtime.onMessage.addListener((message) => {
  if (isMessage(message, 'panel')) void show();
  return false;
});

async function send(message: Message): Promise<void> {
  const wake: Message = { to: 'background', type: 'wake' };
  await chrome.runtime.sendMessage(wake);
  await chrome.runtime.sendMessage(message);
}

async function begin(power: Power): Promise<void> {
  const note = text.value.trim();
  if (!note) return text.focus();
  await send({ to: 'host', type: 'work', power, text: note, title: '' });
  text.value = '';
}

/** Copies the chosen file into the extension's own storage, where it stays for every use to come. */
async function useModel(): Promise<void> {
  const [file] = model.files ?? [];
  model.value = '';
  if (!file) return;
  try {
    if ((await file.slice(0, 4).text()) !== 'GGUF') throw new Error('It is not a GGUF file.');
    state.textContent = 'Copying the model …';
    const root = await navigator.storage.getDirectory();
    // The file is replaced when all of the new one is there, and not before.
    const writer = await (await root.getFileHandle(MODEL_FILE, { create: true })).createWritable();
    await writer.write(file);
    await writer.close();
    await send({ to: 'host', type: 'model-changed' });
    await showModel();
  } catch (error) {
    await showModel();
    const reason = error instanceof Error && error.name === 'QuotaExceededError' ? 'There is too little room for it.' : (error as Error).message;
    state.textContent = `${file.name} was not taken. ${reason} ${state.textContent}`;
  }
}

async function showModel(): Promise<void> {
  const root = await navigator.storage.getDirectory();
  const size = await root.getFileHandle(MODEL_FILE).then(async (handle) => (await handle.getFile()).size, () => 0);
  state.textContent = size ? `A model of ${Math.round(size / 1e6)} MB is kept here.` : 'No model yet: cleaning works without one, tags and tasks need it.';
}

async function show(): Promise<void> {
  const wanted = search.value.trim().toLowerCase().replace(/^#/, '');
  const notes = await allNotes();
  const shown = notes.filter((note) => matches(note, wanted));
  list.replaceChildren(...shown.map(item));
  need('empty').textContent = notes.length === 0 ? 'Nothing yet. Select text on any page and use its menu, or write above.' : shown.length ? '' : 'No note has this tag.';
  need('forget-all').hidden = notes.length === 0;
  const topics = [...new Set(notes.flatMap(({ topic, intent }) => [topic, intent].filter((tag) => tag !== undefined)))];
  need('tags').replaceChildren(...topics.map((topic) => Object.assign(document.createElement('option'), { value: topic })));
}

function matches({ topic = '', intent = '' }: Note, wanted: string): boolean {
  return !wanted || topic.includes(wanted) || intent.includes(wanted);
}

function item(note: Note): HTMLElement {
  const { topic, intent, tasks, cleaned, problem, when, title } = note;
  const article = document.createElement('article');
  article.dataset['state'] = note.state;
  const add = (tag: string, content: string, name = '') => {
    const element = document.createElement(tag);
    element.textContent = content;
    element.className = name;
    article.append(element);
    return element;
  };
  if (note.state === 'working') add('p', `${POWERS[note.power]} …`, 'working');
  if (problem) add('p', problem, 'problem');
  if (topic) {
    const tags = add('p', '', 'tag');
    for (const tag of [topic, intent ?? '']) {
      const chip = Object.assign(document.createElement('button'), { type: 'button', textContent: tag });
      chip.addEventListener('click', () => {
        search.value = tag;
        void show();
      });
      tags.append(chip);
    }
  }
  add('p', cleaned ?? note.text, 'said');
  if (tasks) {
    const found = add('ul', '');
    found.append(...tasks.map((task) => Object.assign(document.createElement('li'), { textContent: task })));
    if (!tasks.length) add('p', 'There are no tasks in it.', 'facts');
  }
  const foot = add('footer', '');
  foot.append(`${new Date(when).toLocaleString()}${title ? ` · ${title}` : ''} `);
  const copy = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  copy.addEventListener('click', () => void navigator.clipboard.writeText(tasks?.length ? tasks.map((task) => `- ${task}`).join('\n') : (cleaned ?? note.text)));
  const remove = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Remove' });
  remove.addEventListener('click', async () => {
    await forget(note.id);
    await show();
  });
  foot.append(copy, remove);
  return article;
}

void show();
void showModel();
