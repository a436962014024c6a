// A Chromium for the tests and the demo. Serving the page does not need it.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { capture, aptInstall } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

const names = [
  'chromium',
  'google-chrome',
  'google-chrome-stable',
  'chromium-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of a Chromium that starts. */
export const chromium = step('Chromium', {
  find() {
    const wanted = process.env.FAIRHAND_CHROMIUM;
    // Ubuntu's chromium-browser may be a stub that only prints how to install a snap: ask for a version.
    return (wanted ? [wanted] : names).map(located).find((path) => path && versionOf(path));
  },
  work: 'installing Debian\'s package',
  make: process.env.FAIRHAND_CHROMIUM ? undefined : () => aptInstall(['chromium']),
  advice: 'Install Chromium (on Debian: `apt-get install chromium`) or set FAIRHAND_CHROMIUM to one, then run the command again.',
  describe: (path) => `${path}, ${versionOf(path)}`,
});

/** The path behind a command's name, which the browser's driver does not look up. @param {string} name */
function located(name) {
  const paths = name.includes('/') ? [name] : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return paths.find((path) => existsSync(path));
}

/** @param {string} path */
function versionOf(path) {
  return /\d[\d.]*\.\d+/.exec(capture(path, ['--version']) ?? '')?.[0];
}
