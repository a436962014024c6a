// A model on its way over a network that may fail at any byte. Each byte is handed on once and in order, hashed, and
// kept; when the connection breaks, the next request goes on from there.
import { onAbort } from '../abort.js';
import { abortError, FairhandError, throwIfAborted } from '../errors.js';
import type { RemoteModel } from '../types.js';
import { ask, redacted, type Answer } from './request.js';
import { Sha256 } from './sha256.js';
import { PIECE, type Part } from './store.js';

/** Waits before the tries that follow a broken connection, in milliseconds; bytes that arrive start the list anew. */
const PAUSES = [250, 500, 1000, 2000];

export class Download {
  /** Bytes in all, where known. */
  total: number | undefined;
  /** Bytes that an earlier load had fetched. */
  resumedFrom = 0;
  /** Whether the bytes handed on last came over the network. */
  live = false;
  /** Why the model is not being kept, in a sentence; absent while it is. */
  notice: string | undefined;
  readonly #model: RemoteModel;
  readonly #signal: AbortSignal | undefined;
  readonly #hash = new Sha256();
  #part: Part | undefined;
  #answer: Answer | undefined;
  #validator: string | undefined;

  private constructor(model: RemoteModel, part: Part | undefined, signal: AbortSignal | undefined) {
    this.#model = model;
    this.#part = part;
    this.#signal = signal;
  }

  /**
   * Asks the server, so that the size is known before the first byte is wanted.
   * @param part where the bytes are kept, with what an earlier load has left there
   * @throws FairhandError as {@link ask}
   */
  static async begin(model: RemoteModel, part: Part | undefined, signal: AbortSignal | undefined): Promise<Download> {
    const download = new Download(model, part, signal);
    const { info, size = 0 } = part ?? {};
    const whole = info?.total !== undefined && size === info.total;
    const resumable = size > 0 && info !== undefined && (info.validator ?? model.sha256) !== undefined;
    if (whole && resumable) {
      // Everything had arrived; only the rename was missing.
      download.total = download.resumedFrom = size;
    } else if (!resumable || !(await download.#resume(part!))) {
      await download.#start();
    }
    return download;
  }

  /**
   * The model's bytes. To be read to the end: then the model has been checked, and `sha256` is known.
   * @throws FairhandError `network` when the connection breaks again and again; `integrity-mismatch`; `aborted`; `http`
   */
  async *bytes(): AsyncGenerator<Uint8Array> {
    if (this.resumedFrom > 0) yield* this.#held();
    this.live = true;
    let failures = 0;
    while (this.#answer) {
      try {
        for await (const piece of this.#fresh(this.#answer)) {
          failures = 0;
          yield piece;
        }
        if (this.total === undefined || this.#hash.length >= this.total) break;
        throw broken();
      } catch (error) {
        if (this.#signal?.aborted) throw abortError(this.#signal);
        if (!isPassing(error) || failures >= PAUSES.length) throw error;
        await pause(PAUSES[failures++]!, this.#signal);
        // A request that fails as well is another failure of the same kind; the body read before has nothing left.
        this.#answer = await ask(this.#model, this.#hash.length, this.#signal).catch((again: unknown) => {
          if (!isPassing(again)) throw again;
          return { start: this.#hash.length, total: this.total, validator: this.#validator, body: failing(again) };
        });
        this.#checkSame(this.#answer);
      }
    }
    this.#verify();
  }

  /** Lower-case hex, of all bytes once they have been read. */
  get sha256(): string {
    return this.#hash.hex();
  }

  get size(): number {
    return this.#hash.length;
  }

  /** The part, when all of its bytes could be kept. */
  get kept(): Part | undefined {
    return this.#part;
  }

  /** Stops the transfer. */
  close(): void {
    void this.#answer?.body.cancel().catch(() => {});
  }

  /** From the start, forgetting what was kept. */
  async #start(): Promise<void> {
    const answer = await ask(this.#model, 0, this.#signal);
    this.#adopt(answer);
    const { total, validator } = answer;
    await this.#keeping((part) =>
      part.restart({
        url: redacted(this.#model.url),
        ...(total !== undefined && { total }),
        ...(validator !== undefined && { validator }),
      }),
    );
  }

  /** From where an earlier load stopped. False when the server has another file now, or cannot. */
  async #resume(part: Part): Promise<boolean> {
    const info = part.info!;
    let answer: Answer;
    try {
      answer = await ask(this.#model, part.size, this.#signal);
    } catch (error) {
      // 416: the file is shorter than what was kept of it.
      if (error instanceof FairhandError && error.detail['status'] === 416) return false;
      throw error;
    }
    const same = answer.validator === info.validator && (answer.total === undefined || answer.total === info.total);
    if (answer.start !== part.size || !same) {
      void answer.body.cancel().catch(() => {});
      return false;
    }
    this.#adopt(answer);
    this.total ??= info.total;
    this.resumedFrom = part.size;
    return true;
  }

  #adopt(answer: Answer): void {
    this.#answer = answer;
    this.#validator = answer.validator;
    this.total = answer.total ?? this.#model.size;
  }

  /** What an earlier load has left. */
  async *#held(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.#part!.bytes()) {
        throwIfAborted(this.#signal);
        this.#hash.update(piece);
        yield piece;
      }
    } catch (error) {
      if (error instanceof FairhandError) throw error;
      // The file has gone from under us, so the rest comes over the network too.
      this.#giveUp(error);
    }
    if (this.#hash.length === this.resumedFrom) return;
    this.close();
    this.#answer = await ask(this.#model, this.#hash.length, this.#signal);
    this.#checkSame(this.#answer);
  }

  /** The bytes of an answer that have not been handed on yet. */
  async *#fresh(answer: Answer): AsyncGenerator<Uint8Array> {
    const known = this.#hash.length;
    const again = new Sha256(); // of what comes a second time, from a server that cannot begin in the middle
    const stream = answer.start === 0 ? magicChecked(pieces(answer.body)) : pieces(answer.body);
    let at = answer.start;
    for await (let piece of stream) {
      throwIfAborted(this.#signal);
      if (at < known) {
        const repeated = piece.subarray(0, known - at);
        again.update(repeated);
        at += repeated.length;
        if (at === known && again.hex() !== this.#hash.hex()) throw changed();
        piece = piece.subarray(repeated.length);
        if (!piece.length) continue;
      }
      at += piece.length;
      this.#hash.update(piece);
      await this.#keeping((part) => part.write(piece));
      yield piece;
    }
  }

  /** After some bytes have been handed on, only the same file will do. */
  #checkSame({ start, total, validator }: Answer): void {
    // An answer from the start is compared byte for byte when it is read.
    const differs = validator !== this.#validator || (total !== undefined && this.total !== undefined && total !== this.total);
    if (start > this.#hash.length || (start > 0 && differs)) throw changed();
  }

  #verify(): void {
    const expected = this.#model.sha256?.toLowerCase();
    if (expected === undefined || this.sha256 === expected) return;
    throw new FairhandError('integrity-mismatch', `${redacted(this.#model.url)} is not the model that was promised.`, {
      retryable: this.resumedFrom > 0, // what was kept may have been at fault
      detail: { expected, actual: this.sha256 },
    });
  }

  /** Does something with the part. If that fails, the model is not kept, and the load goes on. */
  async #keeping(work: (part: Part) => Promise<void>): Promise<void> {
    if (!this.#part) return;
    try {
      await work(this.#part);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.notice = notKept(error);
    const part = this.#part;
    this.#part = undefined;
    void part?.discard().catch(() => {});
  }
}

/** Why a store has not taken a model, for its user. */
export function notKept(error: unknown): string {
  return (error as Error | undefined)?.name === 'QuotaExceededError'
    ? 'The browser gives this site too little space to keep the model: it will be fetched again next time.'
    : 'The browser has not let the model be kept: it will be fetched again next time.';
}

function broken(cause?: unknown): FairhandError {
  return new FairhandError('network', 'The model stopped arriving before its end.', { retryable: true, cause });
}

function changed(): FairhandError {
  return new FairhandError('integrity-mismatch', 'The server changed the model while it was being fetched.', { retryable: true });
}

/** Whether the same request may do better in a moment. */
function isPassing(error: unknown): boolean {
  return error instanceof FairhandError && error.retryable && (error.code === 'network' || error.code === 'http');
}

function failing(error: unknown): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(error) });
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const ignore = onAbort(signal, () => (clearTimeout(timer), resolve()));
    const timer = setTimeout(() => (ignore(), resolve()), milliseconds);
  });
  throwIfAborted(signal);
}

/** A body in pieces of bounded size. A connection that breaks becomes an error of ours. */
async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let start = 0; start < value.length; start += PIECE) yield value.subarray(start, start + PIECE);
    }
  } catch (error) {
    throw error instanceof FairhandError ? error : broken(error);
  } finally {
    await reader.cancel().catch(() => {}); // a body that failed cannot be cancelled, nor need it be
  }
}

/** Refuses at the first four bytes what is not a GGUF file, before megabytes of it are read or any of it is kept. */
export async function* magicChecked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0); // pieces held back until there are four bytes
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk;
      continue;
    }
    head = concatenated(head, chunk);
    if (head.length < 4) continue;
    if (String.fromCharCode(...head.subarray(0, 4)) !== 'GGUF') {
      throw new FairhandError('corrupt-model', 'This is not a GGUF file.');
    }
    yield head;
    head = undefined;
  }
  if (head) throw new FairhandError('corrupt-model', 'This is not a GGUF file: it is shorter than four bytes.');
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
