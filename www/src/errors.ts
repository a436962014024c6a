// The one error class of the package, and its passage between threads.
import { redact, redactedError } from './redact.js';

/** Stable: a code is never renamed or reused. */
export type ErrorCode =
  /** A signal of the caller's has fired. */
  | 'aborted'
  /** The work took longer than `timeoutMs`. */
  | 'timeout'
  | 'disposed'
  | 'worker-crashed'
  | 'version-mismatch'
  | 'csp-blocked'
  | 'unsupported-environment'
  | 'unsupported-model'
  | 'unsupported-quant'
  | 'network'
  | 'http'
  | 'corrupt-model'
  | 'integrity-mismatch'
  | 'storage-quota'
  | 'out-of-memory'
  | 'context-overflow'
  | 'invalid-grammar'
  | 'invalid-schema'
  | 'invalid-structured-output'
  | 'template'
  | 'tokenizer'
  | 'invalid-argument'
  /** A function of the caller's has thrown; its error is the `cause`. */
  | 'callback-failed'
  | 'internal';

// Where the DOM has a name for the same thing, callers may test for that.
const names: Partial<Record<ErrorCode, string>> = {
  aborted: 'AbortError',
  timeout: 'TimeoutError',
  disposed: 'InvalidStateError',
  network: 'NetworkError',
  'unsupported-environment': 'NotSupportedError',
  'unsupported-model': 'NotSupportedError',
  'unsupported-quant': 'NotSupportedError',
  'context-overflow': 'QuotaExceededError',
  'storage-quota': 'QuotaExceededError',
};

export interface ErrorExtras {
  /** Whether the same call may succeed when it is made again. */
  retryable?: boolean;
  /** Numbers and places for programs, for example `{ status: 404 }` or `{ line: 3, column: 7 }`. */
  detail?: Record<string, unknown>;
  cause?: unknown;
}

/** Codes whose cause is the caller's own: what its function has thrown, or its signal's reason. It stays what it is. */
const ofCaller: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['aborted', 'callback-failed', 'invalid-structured-output']);

/**
 * Every failure of this package. No message holds the user's text or a credential; an answer that cannot be used is kept in
 * `detail.raw`.
 */
export class FairhandError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, { retryable = false, detail = {}, cause }: ErrorExtras = {}) {
    const foreign = cause instanceof Error && !(cause instanceof FairhandError) && !ofCaller.has(code);
    super(redact(message), cause === undefined ? undefined : { cause: foreign ? redactedError(cause) : cause });
    this.name = names[code] ?? 'FairhandError';
    this.code = code;
    this.retryable = retryable;
    this.detail = detail;
  }
}

/** An error as it crosses between threads. */
export interface WireError {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  detail: Record<string, unknown>;
}

export function toWire(error: unknown): WireError {
  const { code, message, retryable, detail } = asFairhandError(error);
  return { code, message, retryable, detail: { ...detail } };
}

export function fromWire({ code, message, ...extras }: WireError): FairhandError {
  return new FairhandError(code, message, extras);
}

/** Gives anything thrown its type: the wasm module throws `{ code, message, detail? }`, browsers throw what they like. */
export function asFairhandError(error: unknown): FairhandError {
  if (error instanceof FairhandError) return error;
  const { code, message, detail } = (typeof error === 'object' && error !== null ? error : {}) as Partial<WireError>;
  if (typeof code === 'string' && typeof message === 'string') {
    return new FairhandError(code, message, { detail: detail ?? {}, cause: error });
  }
  return new FairhandError('internal', typeof message === 'string' ? message : 'An unknown error.', { cause: error });
}

/** Whether the wasm module has stopped for good: a trap leaves its memory in the middle of something. */
export function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
}

export function disposed(): FairhandError {
  return new FairhandError('disposed', 'The engine has been disposed.');
}

/** The error for a signal that has fired: its reason where that is one of ours, else a cancel, with the name that the DOM has for it. */
export function abortError(signal: AbortSignal): FairhandError {
  const { reason } = signal as { reason: unknown };
  if (reason instanceof FairhandError) return reason;
  const timedOut = typeof reason === 'object' && reason !== null && (reason as Error).name === 'TimeoutError';
  const error = new FairhandError('aborted', timedOut ? 'The time limit of the signal has passed.' : 'The call was cancelled.', { cause: reason });
  if (timedOut) error.name = 'TimeoutError';
  return error;
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}
