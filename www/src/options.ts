// What each call takes by name, and what may be given: held to the public types by the compiler, so that an option can be
// neither forgotten here nor slip by misspelt. The wasm module checks once more; but only here is an option told by its name.
import { checkOptions, invalid, isStrings, object } from './check.js';
import type {
  AnswerForm,
  CallOptions,
  CleanerOptions,
  CleanupOptions,
  CompleteOptions,
  LoadOptions,
  ModelCallOptions,
  PrepareOptions,
  Profile,
  PromptDefinition,
  PromptRequest,
  Sampling,
  StepsOptions,
  TagOptions,
  TasksOptions,
} from './types.js';

/** Every name of a type's fields. */
type Names<T> = Record<keyof Required<T>, true>;

const call: Names<CallOptions> = { signal: true, onProgress: true, timeoutMs: true, priority: true };
const modelCall: Names<ModelCallOptions> = {
  ...call, onToken: true, maxTokens: true, seed: true, profile: true, session: true, reasoning: true, retries: true, repairs: true,
};
const cleaner: Names<CleanerOptions> = { signal: true, wasm: true, worker: true };
const load: Names<LoadOptions> = {
  ...cleaner, onProgress: true, contextSize: true, kvCache: true, threads: true, seed: true, cache: true, concurrency: true, reasoning: true, recorder: true, answers: true,
};
const prepare: Names<PrepareOptions> = { signal: true, onProgress: true };
const cleanup: Names<CleanupOptions> = { ...modelCall, level: true, preset: true, dictionary: true, language: true, mode: true };
const steps: Names<StepsOptions> = { ...modelCall, examples: true, strategy: true };
const tasks: Names<TasksOptions> = steps;
const tag: Names<TagOptions> = { ...modelCall, strategy: true, intents: true, topics: true };
const form: Names<AnswerForm> = { grammar: true, schema: true, regex: true };
const complete: Names<CompleteOptions<unknown> & PromptRequest & AnswerForm & { messages: unknown }> = {
  ...modelCall, ...form, sampling: true, stop: true, decode: true, prompt: true, inputs: true, variables: true, messages: true,
};
const sampling: Names<Sampling> = { temperature: true, topK: true, topP: true };
const prompt: Names<PromptDefinition> = { id: true, version: true, messages: true, inputs: true, variables: true, output: true, profile: true };
const profile: Names<Profile> = { name: true, model: true, maxTokens: true, sampling: true, retries: true, repairs: true, timeoutMs: true, reasoning: true };

const known = { call, cleaner, load, prepare, cleanup, steps, tasks, tag, complete, sampling, prompt, profile };

/**
 * Options of the kind `of`, without any that it does not have.
 * @throws FairhandError `invalid-argument`
 */
export function checkNamed(of: keyof typeof known, options: unknown): void {
  checkOptions(options);
  const names = known[of];
  for (const [name, value] of Object.entries(options as object)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    // What is no plain word may be a text that has slipped into the wrong place: it is not repeated.
    const shown = /^[a-z][a-zA-Z]{0,24}$/.test(name) ? name : '…';
    const near = Object.keys(names).find((other) => isNear(name.toLowerCase(), other.toLowerCase()));
    throw invalid(`There is no option ${shown} here${near ? `; did you mean ${near}?` : `: it takes ${Object.keys(names).join(', ')}.`}`);
  }
}

/** Whether one slip of the finger lies between two names: a letter more, less, another, or two changed round. */
function isNear(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  const rest = short.slice(at);
  return [rest.slice(1), rest].includes(long.slice(at + 1)) || rest.slice(0, 2) === [long[at + 1], long[at]].join('') && rest.slice(2) === long.slice(at + 2);
}

function oneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return;
  const quoted = choices.map((choice) => `'${choice}'`);
  throw invalid(`${name} must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}.`);
}

const MOST_TERMS = 1_000;
const MOST_TERM_BYTES = 100;
const control = /\p{Cc}/u;

/** @throws FairhandError `invalid-argument` */
export function checkCleanup(options: CleanupOptions): void {
  checkNamed('cleanup', options);
  const { level, preset, mode, dictionary, language } = options;
  oneOf('level', level, ['verbatim', 'light', 'clean']);
  oneOf('preset', preset, ['default', 'email', 'notes', 'code']);
  oneOf('mode', mode, ['choose', 'rules', 'rewrite']);
  if (dictionary !== undefined) {
    if (!isStrings(dictionary)) throw invalid('dictionary must be a list of strings.');
    if (dictionary.length > MOST_TERMS) throw invalid(`dictionary must have at most ${MOST_TERMS} terms.`, { requested: dictionary.length, available: MOST_TERMS });
    const odd = dictionary.findIndex((term) => term.trim() === '' || control.test(term) || bytesOf(term) > MOST_TERM_BYTES);
    if (odd >= 0) throw invalid(`dictionary: term ${odd} is blank, longer than ${MOST_TERM_BYTES} bytes, or has a control character.`);
  }
  if (language !== undefined && !(typeof language === 'string' && /^[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i.test(language))) {
    throw invalid("language must be a tag such as 'en' or 'pt-BR'.");
  }
}

/** Of tasks and of steps. @throws FairhandError `invalid-argument` */
export function checkExamples(options: TasksOptions | StepsOptions): void {
  checkNamed('tasks', options);
  const { examples, strategy } = options;
  oneOf('strategy', strategy, ['grounded', 'free']);
  const isText = (value: unknown) => value === undefined || value === null || typeof value === 'string';
  const isExample = (example: unknown) => {
    const { input, originalOutput, correctedOutput } = (example ?? {}) as Record<string, unknown>;
    return typeof input === 'string' && isText(originalOutput) && isText(correctedOutput);
  };
  if (examples !== undefined && !(Array.isArray(examples) && examples.every(isExample))) {
    throw invalid('examples must be a list of { input, originalOutput?, correctedOutput? }, all strings.');
  }
}

/** @throws FairhandError `invalid-argument` */
export function checkTag(options: TagOptions): void {
  checkNamed('tag', options);
  const { strategy, intents, topics } = options;
  oneOf('strategy', strategy, ['grounded', 'free']);
  if (topics !== undefined && !isStrings(topics)) throw invalid('topics must be a list of strings.');
  const isIntent = (intent: unknown) => {
    const { name, description, examples } = (intent ?? {}) as Record<string, unknown>;
    return typeof name === 'string' && typeof description === 'string' && (examples === undefined || isStrings(examples));
  };
  if (intents !== undefined && !(Array.isArray(intents) && intents.every(isIntent))) {
    throw invalid('intents must be a list of { name, description, examples? }.');
  }
}

/** What a completion is held to and how it is drawn. @throws FairhandError `invalid-argument` */
export function checkAnswer({ sampling, stop, grammar, regex }: { sampling?: unknown; stop?: unknown; grammar?: unknown; regex?: unknown }): void {
  checkSampling(sampling);
  if (stop !== undefined && !isStrings(stop)) throw invalid('stop must be a list of strings.');
  if (grammar !== undefined && typeof grammar !== 'string') throw invalid('grammar must be a string of GBNF.');
  if (regex !== undefined && typeof regex !== 'string') throw invalid('regex must be a string: the source of a regular expression.');
}

/** @throws FairhandError `invalid-argument` */
export function checkSampling(value: unknown): void {
  if (value === undefined) return;
  const { temperature, topK, topP } = object('sampling', value);
  checkNamed('sampling', value);
  if (temperature !== undefined && !(Number.isFinite(temperature) && (temperature as number) >= 0)) {
    throw invalid('sampling.temperature must be a finite number, 0 or more.');
  }
  if (topK !== undefined && !(Number.isInteger(topK) && (topK as number) >= 1 && (topK as number) <= 0xffffffff)) throw invalid('sampling.topK must be a whole number, 1 or more.');
  if (topP !== undefined && !((topP as number) > 0 && (topP as number) <= 1)) throw invalid('sampling.topP must be above 0 and at most 1.');
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
