// A Chromium for the tests and the demo. Serving the page does not need it.
import { capture, aptInstall } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

const names = [
  'chromium',
  'google-chrome',
  'google-chrome-stable',
  'chromium-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path or name of a Chromium that starts. */
export const chromium = step('Chromium', {
  find() {
    const wanted = process.env.FAIRHAND_CHROMIUM;
    // Ubuntu's chromium-browser may be a stub that only prints how to install a snap: ask for a version.
    return (wanted ? [wanted] : names).find((name) => /\d+\.\d+/.test(capture(name, ['--version']) ?? ''));
  },
  work: 'installing Debian\'s package',
  async make() {
    if (!process.env.FAIRHAND_CHROMIUM) await aptInstall(['chromium']);
  },
  advice: 'Install Chromium (on Debian: `apt-get install chromium`) or set FAIRHAND_CHROMIUM to one, then run the command again.',
  describe: (path) => `${path}, ${/\d[\d.]*/.exec(capture(path, ['--version']) ?? '')?.[0]}`,
});
