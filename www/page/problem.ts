// The one place where the page says that something went wrong: in words, and with the code for a bug report.
import { FairhandError } from '../src/index.js';
import { button, need } from './dom.js';

const advice: Partial<Record<FairhandError['code'], string>> = {
  network: 'Check the connection, then try again.',
  http: 'The model is not where it should be.',
  'integrity-mismatch': 'Remove it under Models and fetch it again.',
  'storage-quota': 'Free some room on this device, or remove a kept model.',
  'corrupt-model': 'Choose another file, or download it again: it may have been cut short.',
  'unsupported-model': 'Choose a model of a family that Fairhand runs.',
  'unsupported-quant': 'Choose another quantisation of this model.',
  'out-of-memory': 'Close other tabs, or choose a smaller model.',
  'context-overflow': 'Shorten the text: the model cannot read that much at once.',
  'invalid-structured-output': 'The model lost its way. Try again, or in other words.',
  'worker-crashed': 'It starts anew with the next try.',
  'unsupported-environment': 'Use a current browser.',
};

button('problem-close', clearProblem);

/** What has failed, in a sentence, and why. */
export type Problem = [what: string, error: unknown];

/** Shows a failure. A cancel is none: whoever cancelled knows. */
export function showProblem(what: string, error: unknown): void {
  showProblems([[what, error]]);
}

/** Shows several failures, one a line. They stay until the reader dismisses them or begins something new. */
export function showProblems(problems: readonly Problem[]): void {
  const lines = problems.filter(([, error]) => codeOf(error) !== 'aborted').map(line);
  if (!lines.length) return;
  need('problem-text').replaceChildren(...lines);
  need('problem').hidden = false;
}

function line([what, error]: Problem): HTMLElement {
  const typed = error instanceof FairhandError ? error : undefined;
  const reason = error instanceof Error ? sentence(error.message) : String(error);
  const help = typed && (typed.code === 'csp-blocked' ? policyAdvice(typed) : advice[typed.code]);
  const text = document.createElement('span');
  text.textContent = [what, reason, help].filter(Boolean).join(' ') + ' ';
  if (typed) {
    const code = document.createElement('code');
    code.textContent = typed.code;
    text.append(code);
  }
  return text;
}

/** The engine's own messages are parts of a sentence. */
function sentence(message: string): string {
  const whole = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

function policyAdvice({ detail }: FairhandError): string {
  return detail['directive'] === 'connect-src'
    ? 'Download the file and open it here, under Models.'
    : 'The host of this page has to allow WebAssembly.';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof FairhandError ? error.code : undefined;
}

export function clearProblem(): void {
  need('problem').hidden = true;
}
