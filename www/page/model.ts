// The model's life on the page: offered, loading, ready or failed.
import { FairhandError, load, modelCache, type CachedModel, type Engine, type LoadProgress, type ModelSource } from '../src/index.js';
import { button, need } from './dom.js';
import { bytes, clock, percent } from './format.js';
import { keptChanged, nameOf } from './library.js';
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
/** What the state says while nothing else happens. */
let ready = '';
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
  // A model that is here already needs no host, and no network.
  const kept = offer ? undefined : await newestKept();
  if (kept) return void loadModel(kept.url, nameOf(kept.url), kept.size);
  if (!offer) {
    state.textContent = 'No model yet. Choose one below, under Models.';
    need<HTMLDetailsElement>('models').open = true;
    return;
  }
  const begin = () => void loadModel(offer.url, offer.name, offer.size);
  const isKept = modelCache.has(new URL(offer.url, location.href)).catch(() => false);
  if (offer.autoload || (await isKept)) begin();
  else offerToLoad(`Load ${offer.name} (${bytes(offer.size)})`, begin);
}

async function newestKept(): Promise<CachedModel | undefined> {
  const models = await modelCache.list().catch(() => []);
  return models.filter(({ complete }) => complete).sort((a, b) => (b.storedAt ?? 0) - (a.storedAt ?? 0))[0];
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

/** Loads a model. The one that works stays until the new one does. */
export async function loadModel(source: ModelSource, name: string, size?: number): Promise<void> {
  cancel?.abort();
  const mine = (cancel = new AbortController());
  clearProblem();
  loadButton.hidden = true;
  cancelButton.hidden = bar.hidden = false;
  bar.removeAttribute('value');
  state.textContent = `Loading ${name} …`;
  try {
    const loaded = await load(source, { signal: mine.signal, onProgress: (progress) => cancel === mine && show(name, progress) });
    if (cancel !== mine) return void loaded.dispose();
    const old = engine;
    engine = loaded;
    ready = describeEngine(name, loaded, size);
    state.textContent = ready;
    void old?.dispose();
  } catch (error) {
    if (cancel !== mine) return;
    const aborted = error instanceof FairhandError && error.code === 'aborted';
    const outcome = aborted ? 'Loading was cancelled.' : 'There is no model: loading failed.';
    state.textContent = engine ? `${aborted ? outcome : 'That model could not be loaded.'} ${ready}` : outcome;
    showProblem('The model could not be loaded.', error);
    offerToLoad('Try again', () => void loadModel(source, name, size));
  }
  if (cancel === mine) {
    cancelButton.hidden = bar.hidden = true;
    onChange();
    keptChanged();
  }
}

function show(name: string, { phase, loaded, total, fromCache, resumedFrom, bytesPerSecond }: LoadProgress): void {
  if (phase === 'wait') {
    state.textContent = `${name} is being fetched in another tab …`;
    return;
  }
  if (total) bar.value = loaded / total;
  const verb = phase === 'download' ? 'Fetching' : fromCache || resumedFrom ? 'Reading what was kept of' : 'Reading';
  const rate = bytesPerSecond === null ? '' : ` · ${bytes(bytesPerSecond)}/s`;
  const left = bytesPerSecond && total && phase === 'download' ? ` · ${clock((total - loaded) / bytesPerSecond)} left` : '';
  state.textContent = `${verb} ${name} … ${percent(loaded, total) || bytes(loaded)}${rate}${left}`;
}

function describeEngine(name: string, { info }: Engine, size: number | undefined): string {
  const facts = [`${name} is ready`];
  const weight = size ?? info.model?.weightBytes;
  if (weight) facts.push(bytes(weight));
  facts.push(info.threads === 1 ? 'one thread' : `${info.threads} threads`);
  if (info.storage?.notice) facts.push(info.storage.notice);
  return facts.join(' · ');
}

function offerToLoad(label: string, begin: () => void): void {
  retry = begin;
  loadButton.textContent = label;
  loadButton.hidden = false;
}
