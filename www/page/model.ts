// The model's life on the page: offered, loading, ready or failed.
import { FairhandError, load, type Engine, type ModelSource } from '../src/index.js';
import { button, need } from './dom.js';
import { bytes, percent } from './format.js';
import { clearProblem, showProblem } from './problem.js';

/** A model that this host offers; see the server's models/manifest.json. */
interface Offer {
  name: string;
  url: string;
  size: number;
  /** Whether to load it unasked: the host says that this costs nobody's network. */
  autoload?: boolean;
}

const state = need('model-state');
const bar = need<HTMLProgressElement>('model-progress');
const file = need<HTMLInputElement>('model-file');
const loadButton = button('model-load', () => retry?.());
const cancelButton = button('model-cancel', () => cancel?.abort());
button('model-open', () => file.click());

let engine: Engine | undefined;
let cancel: AbortController | undefined;
let retry: (() => void) | undefined;
let onChange = () => {};

export function currentEngine(): Engine | undefined {
  return engine;
}

/** Begins: asks the host what it has. `changed` is called whenever an engine comes or goes. */
export async function startModel(changed: () => void): Promise<void> {
  onChange = changed;
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    file.value = ''; // so that the same file can be chosen again
    if (chosen) void openModel(chosen);
  });
  const offer = await offered();
  if (!offer) {
    state.textContent = 'No model yet. Open a GGUF file to use one.';
    return;
  }
  const begin = () => void loadModel(offer.url, offer.name, offer.size);
  if (offer.autoload) begin();
  else offerToLoad(`Load ${offer.name} (${bytes(offer.size)})`, begin);
}

/** Loads a file of the reader's own. */
export async function openModel(chosen: File): Promise<void> {
  await loadModel(chosen, chosen.name.replace(/\.gguf$/i, ''), chosen.size);
}

async function offered(): Promise<Offer | undefined> {
  try {
    const response = await fetch('models/manifest.json');
    const { models } = (await response.json()) as { models: Offer[] };
    return models[0];
  } catch {
    return undefined; // a host without a manifest offers no model
  }
}

async function loadModel(source: ModelSource, name: string, size: number): Promise<void> {
  cancel?.abort();
  const mine = (cancel = new AbortController());
  const old = engine;
  engine = undefined;
  onChange();
  await old?.dispose();
  clearProblem();
  loadButton.hidden = true;
  cancelButton.hidden = bar.hidden = false;
  bar.value = 0;
  state.textContent = `Loading ${name} …`;
  try {
    const loaded = await load(source, {
      signal: mine.signal,
      onProgress({ phase, loaded, total }) {
        const verb = phase === 'download' ? 'Loading' : 'Reading';
        if (total) bar.value = loaded / total;
        state.textContent = `${verb} ${name} … ${percent(loaded, total)}`;
      },
    });
    if (cancel !== mine) return void loaded.dispose();
    engine = loaded;
    const { threads } = loaded.info;
    state.textContent = `${name} is ready · ${bytes(size)} · ${threads === 1 ? 'one thread' : `${threads} threads`}`;
  } catch (error) {
    if (cancel !== mine) return;
    const aborted = error instanceof FairhandError && error.code === 'aborted';
    state.textContent = aborted ? 'Loading was cancelled.' : 'There is no model: loading failed.';
    showProblem('The model could not be loaded.', error);
    offerToLoad('Try again', () => void loadModel(source, name, size));
  }
  if (cancel === mine) {
    cancelButton.hidden = bar.hidden = true;
    onChange();
  }
}

function offerToLoad(label: string, begin: () => void): void {
  retry = begin;
  loadButton.textContent = label;
  loadButton.hidden = false;
}
