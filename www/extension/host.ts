// Holds the engine, in a document that may have workers and that the browser does not stop when it is idle.
import { FairhandError, load, loadCleaner, type Cleaner, type Engine } from '../src/index.js';
import { isMessage, MODEL_FILE, type Message, type Note, type Power } from './messages.js';
import { allNotes, keep } from './notes.js';

const NO_MODEL = 'There is no model yet: choose a GGUF file in the panel.';

let cleaner: Promise<Cleaner> | undefined;
let engine: Promise<Engine> | undefined;

/** Listens for work. Notes that a host before this one left unfinished are closed. */
export async function startHost(): Promise<void> {
  chrome.runtime.onMessage.addListener((message, _sender, answer) => {
    if (!isMessage(message, 'host')) return false;
    void handle(message).then(answer);
    return true; // the answer comes later
  });
  for (const note of await allNotes()) {
    if (note.state === 'working') await keep({ ...note, state: 'failed', problem: 'The work was interrupted: try again.' });
  }
}

export async function handle(message: Extract<Message, { to: 'host' }>): Promise<string | undefined> {
  switch (message.type) {
    case 'work': {
      const { power, text, title } = message;
      const note: Note = { id: crypto.randomUUID(), when: Date.now(), title, text, power, state: 'working' };
      await changed(note);
      void work(power, text).then(
        (found) => changed({ ...note, ...found, state: 'done' }),
        (error: unknown) => changed({ ...note, state: 'failed', problem: error instanceof FairhandError ? error.message : String(error) }),
      );
      return note.id;
    }
    case 'model-changed': {
      const old = engine;
      engine = undefined;
      await (await old?.catch(() => undefined))?.dispose();
      return undefined;
    }
  }
}

async function work(power: Power, text: string): Promise<Partial<Note>> {
  cleaner ??= loadCleaner();
  const { text: cleaned } = await (await cleaner).cleanup(text);
  if (power === 'clean') return { cleaned };
  const model = await (engine ??= loadEngine());
  if (power === 'tag') {
    const { topic, intent } = await model.tagContent(cleaned);
    return { cleaned, topic, intent };
  }
  const { tasks } = await model.extractTasks(cleaned);
  return { cleaned, tasks: tasks.map((task) => task.text) };
}

async function loadEngine(): Promise<Engine> {
  try {
    const root = await navigator.storage.getDirectory();
    const file = await root.getFileHandle(MODEL_FILE).then(
      (handle) => handle.getFile(),
      () => {
        throw new FairhandError('unsupported-model', NO_MODEL);
      },
    );
    return await load(file);
  } catch (error) {
    engine = undefined; // the next call tries again
    throw error;
  }
}

async function changed(note: Note): Promise<void> {
  await keep(note);
  const message: Message = { to: 'panel', type: 'changed' };
  await chrome.runtime.sendMessage(message).catch(() => {}); // no panel is open
}
