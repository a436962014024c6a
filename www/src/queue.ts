// First come, first served, one at a time. A waiting entry leaves when its signal fires.
import { abortError, throwIfAborted } from './errors.js';

export class Queue {
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` when everything before it has ended. The turn passes on exactly once, however `work` ends. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    throwIfAborted(signal);
    if (this.#busy) await this.#turn(signal);
    else this.#busy = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy = false;
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        const place = this.#waiting.indexOf(enter);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(abortError(signal!));
      };
      this.#waiting.push(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
