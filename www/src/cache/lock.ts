// One download of a model at a time, over all tabs of the origin.
import { abortError } from '../errors.js';
import { Queue } from '../queue.js';

/** Where there are no Web Locks there are no tabs either: one queue a name is enough. */
const queues = new Map<string, Queue>();

/**
 * Waits for the lock of this name and returns what gives it back. The browser gives it back for a tab that dies.
 * @param onWait called when another has it
 */
export async function lock(name: string, signal: AbortSignal | undefined, onWait: () => void): Promise<() => void> {
  const locks = (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
  if (!locks) return queued(name, signal);
  const full = `fairhand-model-${name}`;
  const held = await locks.query().then(({ held: all }) => all?.some((entry) => entry.name === full), () => false);
  if (held) onWait();
  return new Promise((resolve, reject) => {
    locks
      .request(full, signal ? { signal } : {}, () => new Promise<void>((release) => resolve(release)))
      .catch((error: unknown) => reject(signal?.aborted ? abortError(signal) : error));
  });
}

async function queued(name: string, signal: AbortSignal | undefined): Promise<() => void> {
  const queue = queues.get(name) ?? new Queue();
  queues.set(name, queue);
  return new Promise((resolve, reject) => {
    queue.run(signal, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}
