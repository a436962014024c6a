// Arguments as they come from JavaScript: checked before any work, so that nothing untyped is thrown later.
import { capabilities } from './capabilities.js';
import { FairhandError } from './errors.js';

function invalid(message: string): FairhandError {
  return new FairhandError('invalid-argument', message);
}

/** The options of any call or load. @throws FairhandError `invalid-argument` */
export function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw invalid('The options must be an object.');
  const { signal, onToken, onProgress } = options as Record<string, unknown>;
  if (signal !== undefined && !isSignal(signal)) throw invalid('signal must be an AbortSignal.');
  if (onToken !== undefined && typeof onToken !== 'function') throw invalid('onToken must be a function.');
  if (onProgress !== undefined && typeof onProgress !== 'function') throw invalid('onProgress must be a function.');
}

/** A signal of another window is no instance of this one's class. */
function isSignal(value: unknown): value is AbortSignal {
  if (typeof AbortSignal === 'function' && value instanceof AbortSignal) return true;
  return Object.prototype.toString.call(value) === '[object AbortSignal]';
}

/** A request for a completion: one prompt, of one kind. @throws FairhandError `invalid-argument` */
export function checkCompletion(request: unknown): void {
  checkOptions(request);
  const { prompt, messages } = request as { prompt?: unknown; messages?: unknown };
  if (prompt !== undefined && messages !== undefined) throw invalid('Give a prompt or messages, not both.');
  if (prompt === undefined && messages === undefined) throw invalid('Give a prompt or messages.');
  if (prompt !== undefined && typeof prompt !== 'string') throw invalid('The prompt must be a string.');
  if (messages !== undefined && !(Array.isArray(messages) && messages.every(isMessage))) {
    throw invalid('messages must be a list of { role, content }, both strings.');
  }
}

function isMessage(value: unknown): boolean {
  const { role, content } = (value ?? {}) as { role?: unknown; content?: unknown };
  return typeof role === 'string' && typeof content === 'string';
}

/** A function of the caller's, whose own failure is told apart from ours. */
export function callback<A extends unknown[]>(name: string, call: ((...args: A) => void) | undefined): ((...args: A) => void) | undefined {
  if (!call) return undefined;
  return (...args) => {
    try {
      call(...args);
    } catch (cause) {
      throw new FairhandError('callback-failed', `${name} has thrown, so the call was ended.`, { cause });
    }
  };
}

/** @throws FairhandError `unsupported-environment` */
export function checkEnvironment(): void {
  const { simd, reasons } = capabilities();
  if (!simd) throw new FairhandError('unsupported-environment', reasons[0] ?? 'This browser cannot run the engine.');
}
