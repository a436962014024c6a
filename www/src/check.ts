// Arguments as they come from JavaScript: checked before any work, so that nothing untyped is thrown later.
import { capabilities } from './capabilities.js';
import { FairhandError } from './errors.js';
import type { ModelCallOptions } from './types.js';

export function invalid(message: string, detail: Record<string, unknown> = {}): FairhandError {
  return new FairhandError('invalid-argument', message, { detail });
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

/** The largest number that the module counts to. */
const MOST = 0xffff_ffff;

/** @throws FairhandError `invalid-argument` */
export function checkCount(name: string, value: unknown, most = MOST): void {
  if (value === undefined) return;
  if (!(Number.isSafeInteger(value) && (value as number) >= 0)) throw invalid(`${name} must be a whole number, 0 or more.`);
  if ((value as number) > most) throw invalid(`${name} must be at most ${most}.`);
}

/** Beyond it, asking again is no use. */
const MOST_AGAIN = 20;

/** The options of a call that may run the model. @throws FairhandError `invalid-argument` */
export function checkCall(options: ModelCallOptions): void {
  const { maxTokens, seed, retries, repairs, timeoutMs, priority, profile, session, reasoning } = options;
  checkCount('maxTokens', maxTokens);
  if (maxTokens === 0) throw invalid('maxTokens must be at least 1.');
  checkCount('seed', seed, Number.MAX_SAFE_INTEGER);
  checkCount('retries', retries, MOST_AGAIN);
  checkCount('repairs', repairs, MOST_AGAIN);
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs >= 0)) throw invalid('timeoutMs must be a finite number, 0 or more.');
  if (priority !== undefined && priority !== 'interactive' && priority !== 'background') throw invalid("priority must be 'interactive' or 'background'.");
  if (profile !== undefined && typeof profile !== 'string') throw invalid('profile must be a string.');
  if (session !== undefined && typeof session !== 'string') throw invalid('session must be a string.');
  if (reasoning !== undefined && reasoning !== null && typeof reasoning !== 'string') throw invalid('reasoning must be a string or null.');
}

/** @throws FairhandError `invalid-argument` */
export function checkNames(names: unknown): void {
  if (!isStrings(names)) throw invalid('The profiles must be a list of names.');
}

/** The shape of a prompt; what it says is the module's to judge. @throws FairhandError `invalid-argument` */
export function checkPrompt(definition: unknown): void {
  const { id, version, messages, inputs, variables, output, profile } = object('A prompt', definition);
  if (typeof id !== 'string') throw invalid("A prompt's id must be a string.");
  checkCount("A prompt's version", version ?? null);
  if (!isMessages(messages)) throw invalid('messages must be a list of { role, content }, both strings.');
  if (inputs !== undefined && !(Array.isArray(inputs) && inputs.every((input) => typeof input?.name === 'string'))) {
    throw invalid('inputs must be a list of { name, optional? }.');
  }
  if (variables !== undefined && !isStrings(variables)) throw invalid('variables must be a list of names.');
  if (output !== undefined && Object.keys(object('output', output)).length !== 1) throw invalid('output must have one of grammar, schema and regex.');
  if (profile !== undefined && typeof profile !== 'string') throw invalid('profile must be the name of one.');
}

/** @throws FairhandError `invalid-argument` */
export function checkProfile(profile: unknown): void {
  const { name, reasoning, ...settings } = object('A profile', profile);
  if (typeof name !== 'string' || name.trim() === '') throw invalid('A profile needs a name.');
  if (reasoning !== undefined && typeof reasoning !== 'string') throw invalid('reasoning must be a string.');
  checkCall(settings);
}

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

export function object(what: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${what} must be an object.`);
  return value as Record<string, unknown>;
}

/** A request for a completion: one prompt, of one kind. @throws FairhandError `invalid-argument` */
export function checkCompletion(request: unknown): void {
  checkOptions(request);
  const { prompt, messages, inputs, variables, decode } = request as Record<string, unknown>;
  if (prompt !== undefined && messages !== undefined) throw invalid('Give a prompt or messages, not both.');
  if (prompt === undefined && messages === undefined) throw invalid('Give a prompt or messages.');
  if (decode !== undefined && typeof decode !== 'function') throw invalid('decode must be a function.');
  if (typeof prompt === 'object') return checkPlaces(prompt, inputs, variables);
  if (prompt !== undefined && typeof prompt !== 'string') throw invalid('The prompt must be a string, or the id of a registered one.');
  if (inputs !== undefined || variables !== undefined) throw invalid('Only a registered prompt takes inputs and variables.');
  if (messages !== undefined && !isMessages(messages)) throw invalid('messages must be a list of { role, content }, both strings.');
}

function checkPlaces(prompt: unknown, inputs: unknown, variables: unknown): void {
  const { id, version } = object('The prompt', prompt);
  if (typeof id !== 'string') throw invalid("A prompt's id must be a string.");
  checkCount("A prompt's version", version);
  const isInput = (input: unknown) => {
    const { name, text, origin } = (input ?? {}) as Record<string, unknown>;
    return typeof name === 'string' && typeof text === 'string' && (origin === undefined || typeof origin === 'string');
  };
  if (inputs !== undefined && !(Array.isArray(inputs) && inputs.every(isInput))) {
    throw invalid('inputs must be a list of { name, text, origin? }, all strings.');
  }
  if (variables !== undefined && !Object.values(object('variables', variables)).every((value) => typeof value === 'string')) {
    throw invalid('variables must be strings by their names.');
  }
}

function isMessages(value: unknown): boolean {
  return Array.isArray(value) && value.every(isMessage);
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
