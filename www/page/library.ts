// The models on this machine: where the next one comes from, and what is kept.
import { FairhandError, modelCache, type CachedModel } from '../src/index.js';
import { announce, button, need } from './dom.js';
import { bytes, percent } from './format.js';
import { showProblem } from './problem.js';
import { remember, settings } from './settings.js';

const list = need('kept');
const address = need<HTMLInputElement>('model-url');

/** Wires the picker. `use` loads a model from an address. */
export function startLibrary(use: (url: string, name: string) => void): void {
  address.value = settings.modelUrl;
  need<HTMLFormElement>('model-from-url').addEventListener('submit', (event) => {
    event.preventDefault();
    const value = address.value.trim();
    if (!value) return;
    try {
      const url = new URL(value, location.href);
      if (!/^https?:$/.test(url.protocol)) throw new Error('An address begins with https:// or is one of this site.');
      remember({ modelUrl: `${url.origin}${url.pathname}` });
      use(url.href, nameOf(url.href));
    } catch (error) {
      showProblem('That is not an address.', error);
    }
  });
  button('kept-clear', () => void clear());
  need<HTMLDetailsElement>('models').addEventListener('toggle', () => void showKept());
  void showKept();

  async function clear(): Promise<void> {
    await modelCache.clear().catch((error: unknown) => showProblem('Not everything could be removed.', error));
    announce('All kept models are removed.');
    await showKept();
  }

  /** Shows what is kept, and what room there is. */
  async function showKept(): Promise<void> {
    const [models, estimate] = await Promise.all([modelCache.list().catch(() => []), modelCache.estimate()]);
    list.replaceChildren(...models.map(row));
    need('kept-clear').hidden = models.length === 0;
    const room = estimate.availableBytes === null ? '' : `${bytes(estimate.availableBytes)} free for this site.`;
    need('kept-note').textContent = estimate.notice ?? (models.length ? room : `Nothing is kept yet. ${room}`);
  }

  function row(model: CachedModel): HTMLElement {
    const { key, url, size, loaded, complete } = model;
    const item = document.createElement('li');
    const name = document.createElement('b');
    name.textContent = nameOf(url);
    const facts = document.createElement('span');
    facts.className = 'facts';
    facts.textContent = complete ? `${bytes(size ?? loaded)}` : `${percent(loaded, size ?? null) || bytes(loaded)} fetched, goes on from there`;
    const act = (label: string, action: () => Promise<void>) => {
      const control = document.createElement('button');
      control.type = 'button';
      control.textContent = label;
      control.setAttribute('aria-label', `${label} ${nameOf(url)}`);
      control.addEventListener('click', () => void action().catch((error: unknown) => showProblem(`${label} did not work.`, error)));
      return control;
    };
    const tools = document.createElement('span');
    tools.className = 'tools';
    item.append(name, facts, tools);
    tools.append(act(complete ? 'Use' : 'Go on', async () => use(url, nameOf(url))));
    if (complete) {
      tools.append(act('Verify', async () => {
        facts.textContent = 'checking …';
        const intact = await modelCache.verify({ key });
        facts.textContent = intact ? `${bytes(loaded)}, intact` : 'damaged: remove it and fetch it again';
        announce(facts.textContent);
        if (!intact) throw new FairhandError('integrity-mismatch', 'The bytes are not those that arrived.');
      }));
    }
    tools.append(act('Remove', async () => {
      await modelCache.delete({ key });
      announce(`${nameOf(url)} is removed.`);
      await showKept();
    }));
    return item;
  }
}

/** Tells the list that a model has come. */
export function keptChanged(): void {
  need('models').dispatchEvent(new Event('toggle'));
}

export function nameOf(url: string): string {
  const last = new URL(url, location.href).pathname.split('/').at(-1) ?? '';
  return decodeURIComponent(last).replace(/\.gguf$/i, '') || 'model';
}
