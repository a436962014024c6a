// The thread's event loop: how long work may hold it, and how to let it turn.

/** Milliseconds of work between two turns of the event loop: one frame, so a cancel is heard within it. */
export const SLICE_MS = 16;

/**
 * Resolves in a later task of the event loop, after the messages that are already waiting. A promise alone would not
 * let them in, and a timer would be slowed down to milliseconds.
 */
export const nextTask: () => Promise<void> = createNextTask();

function createNextTask(): () => Promise<void> {
  // Node's: unlike an open MessageChannel it does not keep the process alive.
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  if (setImmediate) return () => new Promise((resolve) => setImmediate(resolve));
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(null);
    });
}
