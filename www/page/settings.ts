// What the page remembers between visits, in this browser alone.
import type { Level, Preset } from '../src/index.js';

export interface Settings {
  level: Level;
  preset: Preset;
  dictionary: string;
  /** Kinds of edits that are not wanted. */
  kindsOff: string[];
  format: string;
  /** The address of a model of the reader's own; without its query, where tokens travel. */
  modelUrl: string;
}

const KEY = 'fairhand-settings';
const initial: Settings = { level: 'clean', preset: 'default', dictionary: '', kindsOff: [], format: 'txt', modelUrl: '' };

export const settings: Settings = restored();

function restored(): Settings {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    // What another version has kept may have other types.
    const fitting = Object.entries(kept).filter(([key, value]) => key in initial && typeof value === typeof initial[key as keyof Settings]);
    const kindsOff = Array.isArray(kept.kindsOff) ? kept.kindsOff.filter((kind) => typeof kind === 'string') : [];
    return { ...initial, ...Object.fromEntries(fitting), kindsOff };
  } catch {
    return { ...initial }; // nothing kept, or keeping is not allowed here
  }
}

export function remember(changed: Partial<Settings>): void {
  Object.assign(settings, changed);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A private window keeps nothing; the page works all the same.
  }
}
