// How fast bytes arrive, as a person wants to read it: over the last seconds, not jumping with every piece.

const WINDOW_MS = 3000;

export class Rate {
  readonly #seen: { at: number; bytes: number }[] = [];

  /** Counts bytes that have arrived now. Bytes a second; null until there is something to tell. */
  at(bytes: number, now = performance.now()): number | null {
    if (bytes) this.#seen.push({ at: now, bytes });
    while (this.#seen.length > 2 && now - this.#seen[0]!.at > WINDOW_MS) this.#seen.shift();
    const first = this.#seen[0];
    if (!first || now - first.at < 100) return null;
    // The first entry's bytes had come before its time.
    const sum = this.#seen.slice(1).reduce((total, entry) => total + entry.bytes, 0);
    return Math.round((sum * 1000) / (now - first.at));
  }
}
