// The script of a thread that shares the engine's products: it enters the module and does not come back.
import type { HelperSetUp } from './module.js';
import { initSync, serve } from './wasm/threads/fairhand.js';

// TypeScript knows this file's global scope as a window's.
const scope = globalThis as unknown as {
  postMessage(message: 'serving'): void;
  onmessage: ((event: MessageEvent<HelperSetUp>) => void) | null;
};

scope.onmessage = ({ data }) => {
  initSync(data);
  scope.postMessage('serving');
  serve();
};
