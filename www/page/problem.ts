// The one place where the page says that something went wrong: in words, and with the code for a bug report.
import { FairhandError } from '../src/index.js';
import { button, need } from './dom.js';

const advice: Partial<Record<FairhandError['code'], string>> = {
  network: 'Check the connection, then try again.',
  http: 'The model is not where it should be.',
  'integrity-mismatch': 'Remove it under Models and fetch it again.',
  'storage-quota': 'Free some room on this device, or remove a kept model.',
  'csp-blocked': 'The host of this page has to allow WebAssembly.',
  'corrupt-model': 'Choose another file, or download it again: it may have been cut short.',
  'unsupported-model': 'Choose a model of a family that Fairhand runs.',
  'unsupported-quant': 'Choose another quantisation of this model.',
  'out-of-memory': 'Close other tabs, or choose a smaller model.',
  'context-overflow': 'Shorten the text: the model cannot read that much at once.',
  'invalid-structured-output': 'The model lost its way. Try again with another text.',
  'worker-crashed': 'It starts anew with the next try.',
  'unsupported-environment': 'Use a current browser.',
};

button('problem-close', clearProblem);

/** Shows a failure. A cancel is none: whoever cancelled knows. */
export function showProblem(what: string, error: unknown): void {
  const typed = error instanceof FairhandError ? error : undefined;
  if (typed?.code === 'aborted') return;
  const reason = error instanceof Error ? error.message : String(error);
  const help = typed && advice[typed.code];
  const text = need('problem-text');
  text.textContent = [what, reason, help].filter(Boolean).join(' ') + ' ';
  const code = document.createElement('code');
  code.textContent = typed?.code ?? 'unknown';
  text.append(code);
  need('problem').hidden = false;
}

export function clearProblem(): void {
  need('problem').hidden = true;
}
