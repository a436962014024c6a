// The package in Firefox: the same contract over both implementations, in a page that is isolated and in one that is not.
// Firefox needs no driver for this: it opens a page, and the page reports. Where there is no Firefox the tests are skipped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { serve } from '../../scripts/lib/serve.mjs';
import { firefox } from '../../scripts/lib/firefox.mjs';
import { model } from '../../scripts/steps/model.mjs';
import { contract } from '../support/contract.mjs';
import { PATIENCE } from './harness.mjs';

const path = firefox();
const skip = path ? false : 'there is no Firefox here: install it, or set FAIRHAND_FIREFOX to one';

// A profile that asks nothing and fetches nothing.
const preferences = {
  'browser.shell.checkDefaultBrowser': false,
  'browser.aboutwelcome.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
};

/** @typedef {import('./firefox-page.mjs').Outcome} Outcome */
/** @typedef {{ isolated: boolean, report: Record<string, { info?: any, outcomes: Outcome[] }> }} Sent */

for (const kind of ['isolated', 'plain']) {
  describe(`Firefox, in a page that is ${kind}`, { skip }, () => {
    /** @type {Sent} */
    let sent;
    before(async () => {
      sent = await visit(kind);
    }, { timeout: PATIENCE });

    for (const entry of ['local', 'index']) {
      test(`${entry}.js says how it runs`, () => {
        assert.equal(sent.isolated, kind === 'isolated');
        const { info, outcomes } = sent.report[entry];
        assert.ok(info, JSON.stringify(outcomes));
        assert.equal(info.worker, entry === 'index');
        assert.ok(info.threads >= 1 && (sent.isolated || info.threads === 1));
      });
      for (const [name] of contract) {
        test(`${entry}.js: ${name}`, () => {
          const outcome = sent.report[entry].outcomes.find((outcome) => outcome.name === name);
          assert.ok(outcome?.pairs, outcome?.error ?? 'it was not reached');
          for (const [came, expected] of outcome.pairs) assert.deepEqual(came, expected);
        });
      }
    }
  });
}

/** Opens the page in a Firefox of its own, and waits for what it sends. @param {string} kind @returns {Promise<Sent>} */
async function visit(kind) {
  const profile = mkdtempSync(join(tmpdir(), 'fairhand-firefox-'));
  const lines = Object.entries(preferences).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});`);
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  /** @type {(sent: Sent) => void} */
  let arrived = () => {};
  const report = new Promise((resolve) => (arrived = resolve));
  const script = (/** @type {URL} */ file) => /** @type {import('../../scripts/lib/serve.mjs').Handler} */ ((_, response) =>
    response.setHeader('content-type', 'text/javascript').end(readFileSync(file)));
  const server = await serve({
    port: 0,
    model: await model(),
    bare: kind === 'plain',
    routes: {
      '/tests/browser/': (_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>contract</title><script type="module" src="firefox-page.mjs"></script>'),
      '/tests/browser/firefox-page.mjs': script(new URL('firefox-page.mjs', import.meta.url)),
      '/tests/support/contract.mjs': script(new URL('../support/contract.mjs', import.meta.url)),
      '/tests/browser/report': (request, response) => {
        let body = '';
        request.on('data', (piece) => (body += piece)).on('end', () => (response.end(), arrived(JSON.parse(body))));
      },
    },
  });
  const browser = spawn(/** @type {string} */ (path), ['--headless', '--no-remote', '--profile', profile, new URL('tests/browser/', server.url).href], { stdio: 'ignore' });
  const left = new Promise((_, reject) => browser.once('exit', (code) => reject(new Error(`Firefox left with ${code} before its page had reported`))));
  left.catch(() => {}); // it leaves in the end
  try {
    return await Promise.race([report, left]);
  } finally {
    const gone = new Promise((resolve) => (browser.exitCode === null ? browser.once('exit', resolve) : resolve(undefined)));
    browser.kill();
    await gone;
    await server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
