// A Firefox, where there is one: nothing installs it, and the tests that want it are skipped without.
import { capture } from './run.mjs';

const names = ['firefox', 'firefox-esr', '/Applications/Firefox.app/Contents/MacOS/firefox'];

/** What starts a Firefox, or undefined. */
export function firefox() {
  const wanted = process.env.FAIRHAND_FIREFOX;
  return (wanted ? [wanted] : names).find((path) => /Firefox/.test(capture(path, ['--version']) ?? ''));
}
