// SHA-256 (FIPS 180-4) over bytes as they arrive. The browsers' own digest wants all bytes at once, and a model is
// larger than what a page should hold twice.

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const K = new Int32Array(64);
// The same of the square roots of the first eight.
const INITIAL = new Int32Array(8);

for (let candidate = 2, found = 0; found < 64; candidate++) {
  let divisor = 2;
  while (divisor * divisor <= candidate && candidate % divisor) divisor++;
  if (divisor * divisor <= candidate) continue;
  if (found < 8) INITIAL[found] = fraction(Math.sqrt(candidate));
  K[found++] = fraction(Math.cbrt(candidate));
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

const BLOCK = 64;

export class Sha256 {
  readonly #state = INITIAL.slice();
  readonly #schedule = new Int32Array(64);
  /** The bytes of a block that is not full yet. */
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  /** Bytes taken in so far. */
  get length(): number {
    return this.#length;
  }

  update(bytes: Uint8Array): this {
    let at = 0;
    const held = this.#length % BLOCK;
    this.#length += bytes.length;
    if (held) {
      at = Math.min(BLOCK - held, bytes.length);
      this.#rest.set(bytes.subarray(0, at), held);
      if (held + at < BLOCK) return this;
      this.#blocks(this.#rest, 0, BLOCK);
    }
    const whole = at + Math.floor((bytes.length - at) / BLOCK) * BLOCK;
    this.#blocks(bytes, at, whole);
    this.#rest.set(bytes.subarray(whole));
    return this;
  }

  /** The digest of what has come so far, in lower-case hex. More can be added afterwards. */
  hex(): string {
    const last = new Sha256();
    last.#state.set(this.#state);
    const held = this.#length % BLOCK;
    const padded = new Uint8Array(held < BLOCK - 8 ? BLOCK : 2 * BLOCK);
    padded.set(this.#rest.subarray(0, held));
    padded[held] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor(this.#length / 2 ** 29));
    view.setUint32(padded.length - 4, (this.#length << 3) >>> 0);
    last.#blocks(padded, 0, padded.length);
    return Array.from(last.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #blocks(bytes: Uint8Array, start: number, end: number): void {
    const w = this.#schedule;
    const state = this.#state;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = start; at < end; at += BLOCK) {
      for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
      for (let i = 16; i < 64; i++) {
        const x = w[i - 15]!;
        const y = w[i - 2]!;
        const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
      }
      let a = state[0]!;
      let b = state[1]!;
      let c = state[2]!;
      let d = state[3]!;
      let e = state[4]!;
      let f = state[5]!;
      let g = state[6]!;
      let h = state[7]!;
      for (let i = 0; i < 64; i++) {
        const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
        const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + t1) | 0;
        d = c;
        c = b;
        b = a;
        a = (t1 + t2) | 0;
      }
      state[0]! += a;
      state[1]! += b;
      state[2]! += c;
      state[3]! += d;
      state[4]! += e;
      state[5]! += f;
      state[6]! += g;
      state[7]! += h;
    }
  }
}
