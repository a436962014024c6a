// What the parts of the extension say to each other, and a note as it is kept.

export type Power = 'clean' | 'tag' | 'tasks';

export interface Note {
  id: string;
  /** Milliseconds since 1970. */
  when: number;
  /** Of the page that the text was selected on; empty for what was typed into the panel. */
  title: string;
  text: string;
  power: Power;
  state: 'working' | 'done' | 'failed';
  cleaned?: string;
  topic?: string;
  intent?: string;
  tasks?: string[];
  /** Why it failed, in a sentence. */
  problem?: string;
}

export type Message =
  /** To the background: see to it that the host lives. Answered when it does. */
  | { to: 'background'; type: 'wake' }
  /** To the host. Answered when the note is kept, before the work is done. */
  | { to: 'host'; type: 'work'; power: Power; text: string; title: string }
  /** To the host: the reader has chosen another model. */
  | { to: 'host'; type: 'model-changed' }
  /** To the panel: look at the notes again. */
  | { to: 'panel'; type: 'changed' };

export const POWERS: Record<Power, string> = { clean: 'Clean up', tag: 'Tag', tasks: 'Find tasks' };

/** Where the model is kept in the origin's private file system. */
export const MODEL_FILE = 'fairhand-extension-model.gguf';

export function isMessage<T extends Message['to']>(message: unknown, to: T): message is Extract<Message, { to: T }> {
  return typeof message === 'object' && message !== null && (message as Message).to === to;
}
