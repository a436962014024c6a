// Dictation by the browser's own speech recogniser: on the device where the browser offers that, and otherwise only
// after a plain warning that the browser sends the sound away.
import { announce, button, need } from './dom.js';
import { showProblem } from './problem.js';

// TypeScript's DOM library does not know the Web Speech API: https://webaudio.github.io/web-speech-api/
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  processLocally?: boolean;
  start(): void;
  stop(): void;
  abort(): void;
}
interface RecognitionOptions {
  langs: string[];
  processLocally: boolean;
}
interface RecognitionClass {
  new (): Recognition;
  available?(options: RecognitionOptions): Promise<'available' | 'downloadable' | 'downloading' | 'unavailable'>;
  install?(options: RecognitionOptions): Promise<boolean>;
}
interface ResultEvent extends Event {
  resultIndex: number;
  results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }>;
}

const scope = globalThis as { SpeechRecognition?: RecognitionClass; webkitSpeechRecognition?: RecognitionClass };
const Class = scope.SpeechRecognition ?? scope.webkitSpeechRecognition;

const state = need('dictation-state');
const consent = need<HTMLDialogElement>('dictation-consent');
const toggle = button('dictate', () => void (running ? stopDictation() : begin()));

let running: Recognition | undefined;
let heard: (text: string) => void = () => {};

/** Offers the button where the browser can. `onText` hears each finished piece. */
export function startDictation(onText: (text: string) => void): void {
  heard = onText;
  toggle.hidden = !Class;
}

export function stopDictation(): void {
  running?.stop();
}

async function begin(): Promise<void> {
  if (!Class) return;
  const lang = navigator.language || 'en-US';
  const local = await onDevice(Class, lang);
  if (!local && !(await agreed())) return;
  listen(Class, lang, local);
}

/** Whether this browser recognises speech on the device, after fetching what it needs for that. */
async function onDevice(recogniser: RecognitionClass, lang: string): Promise<boolean> {
  const options = { langs: [lang], processLocally: true };
  try {
    const there = await recogniser.available?.(options);
    if (there === 'available') return true;
    if (there === 'unavailable' || there === undefined) return false;
    state.textContent = 'The browser is fetching its speech recogniser …';
    return (await recogniser.install?.(options)) ?? false;
  } catch {
    return false; // a browser that cannot say does not do it
  } finally {
    state.textContent = '';
  }
}

/** Asks each time: the reader may be in company that does not want to be sent away. */
function agreed(): Promise<boolean> {
  consent.returnValue = '';
  consent.showModal();
  return new Promise((resolve) => consent.addEventListener('close', () => resolve(consent.returnValue === 'agree'), { once: true }));
}

function listen(recogniser: RecognitionClass, lang: string, local: boolean): void {
  const recognition = new recogniser();
  recognition.lang = lang;
  recognition.continuous = true;
  recognition.interimResults = true;
  if (local) recognition.processLocally = true;
  const where = local ? 'on this device' : 'by a service of the browser';
  recognition.addEventListener('result', (event) => {
    const { results, resultIndex } = event as ResultEvent;
    let interim = '';
    for (let i = resultIndex; i < results.length; i++) {
      const result = results[i]!;
      const said = result[0]?.transcript.trim() ?? '';
      if (result.isFinal) heard(said);
      else interim += said;
    }
    state.textContent = interim ? `… ${interim}` : `Listening, ${where}.`;
  });
  recognition.addEventListener('error', (event) => {
    const { error } = event as Event & { error?: string };
    if (error === 'aborted' || error === 'no-speech') return;
    const known: Record<string, string> = {
      'not-allowed': 'The browser did not allow the microphone.',
      'service-not-allowed': 'The browser did not allow speech recognition.',
      'audio-capture': 'There is no microphone.',
      network: 'The service of the browser cannot be reached.',
      'language-not-supported': `The browser does not recognise ${lang}.`,
    };
    showProblem('Dictation has stopped.', new Error(known[error ?? ''] ?? 'The browser gave no reason.'));
  });
  recognition.addEventListener('end', () => {
    running = undefined;
    show(false);
    state.textContent = '';
    announce('Dictation has ended.');
  });
  try {
    recognition.start();
  } catch (error) {
    return showProblem('Dictation could not begin.', error);
  }
  running = recognition;
  show(true);
  state.textContent = `Listening, ${where}.`;
  announce(state.textContent);
}

function show(on: boolean): void {
  toggle.setAttribute('aria-pressed', String(on));
  toggle.textContent = on ? 'Stop' : 'Dictate';
}
