// The order of service: a fixed number of permits, given out in order. Entries of one priority are served first come, first
// served; a person who waits goes before background work, and background work that has waited `PATIENCE_MS` stands where a
// person would who came at that moment, so nothing waits for ever. A waiting entry leaves when its signal fires.
import { onAbort } from './abort.js';
import { abortError, FairhandError, throwIfAborted } from './errors.js';
import type { Priority } from './types.js';

/** Background work that has waited so long, in milliseconds, counts as if somebody had asked for it then. */
export const PATIENCE_MS = 10_000;

interface Place {
  since: number;
  enter: () => void;
}

export interface QueueOptions {
  /** How many may work at a time. */
  limit?: number | undefined;
  /** Milliseconds from any beginning. */
  now?: () => number;
}

export class Queue {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #waiting: Record<Priority, Place[]> = { interactive: [], background: [] };
  #working = 0;

  /** @throws FairhandError `invalid-argument` for a limit that is no whole number of at least 1: nothing could ever begin */
  constructor({ limit = 1, now = () => performance.now() }: QueueOptions = {}) {
    if (!(Number.isSafeInteger(limit) && limit >= 1)) {
      throw new FairhandError('invalid-argument', 'concurrency must be a whole number, 1 or more.');
    }
    this.#limit = limit;
    this.#now = now;
  }

  /** Runs `work` when its turn has come. The permit passes on exactly once, however `work` ends. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>, priority: Priority = 'interactive'): Promise<T> {
    throwIfAborted(signal);
    // Nobody waits while a permit is free.
    if (this.#working < this.#limit) this.#working++;
    else await this.#turn(signal, this.#waiting[priority]);
    try {
      throwIfAborted(signal); // it may have fired since the permit was given
      return await work();
    } finally {
      const next = this.#next();
      if (next) next.enter();
      else this.#working--;
    }
  }

  /** Takes the first of those who wait out of the queue. */
  #next(): Place | undefined {
    const { interactive, background } = this.#waiting;
    const [person, patient] = [interactive[0], background[0]];
    const patience = patient && patient.since + PATIENCE_MS;
    const first = patience !== undefined && (!person || (patience <= this.#now() && patience <= person.since));
    return (first ? background : interactive).shift();
  }

  #turn(signal: AbortSignal | undefined, waiting: Place[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const ignore = onAbort(signal, () => {
        waiting.splice(waiting.indexOf(place), 1); // it is there: who enters no longer listens
        reject(abortError(signal!));
      });
      const enter = () => (ignore(), resolve());
      const place: Place = { since: this.#now(), enter };
      waiting.push(place);
    });
  }
}
