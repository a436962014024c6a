// Where things live: the checkout, and the cache outside it that a fresh clone shares with the last one.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fairhand');

/** Cargo's output, native and wasm. */
export const target = join(cache, 'target');
/** Cargo's output for tools that are installed from source. */
export const toolsTarget = join(cache, 'target-tools');
export const models = join(cache, 'models');

/** The site as it is served: the page in `page/`, the package in `src/`. */
export const site = join(root, 'dist');
/** The npm package, ready for `npm pack`. */
export const packed = join(root, 'pkg');
/** The browser extension, a folder for each kind of browser. */
export const extensions = join(root, 'dist-extension');
/** Screenshots and other things a test leaves for a person to look at. */
export const artefacts = join(root, 'tests', 'output');
