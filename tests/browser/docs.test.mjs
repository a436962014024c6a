// The README's examples, run as they stand, with what they say comes out.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { packed } from '../../scripts/lib/paths.mjs';
import { snippets } from '../support/snippets.mjs';
import { PATIENCE, start } from './harness.mjs';

/** @type {Awaited<ReturnType<typeof start>>} */
let site;
/** @type {import('playwright-core').Page} */
let page;
before(async () => {
  site = await start({ '/blank': (_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>blank</title>') });
  ({ page } = await site.page());
  await page.goto(new URL('blank', site.url).href);
});
after(() => site.close());

const transcript = readFileSync(new URL('../data/transcripts/note.srt', import.meta.url), 'utf8');
const NODE = "'fairhand/local'";

for (const { where, code } of snippets('README.md', 'js')) {
  test(`the example at ${where}`, { timeout: PATIENCE }, async () => {
    if (code.includes(NODE)) return inNode(code);
    const body = code.replace(/^import (\{.*\}) from 'fairhand';$/m, "const $1 = await import('/src/index.js');");
    const names = [...code.matchAll(/^(?:export )?const (?:\{ (.*) \}|(\w+)) =/gm)].flatMap(([, list, one]) => (list ? list.split(', ').map((name) => name.split(': ').at(-1)) : [one]));
    const given = await page.evaluate(async ([script, wanted, srt]) => {
      const Async = /** @type {any} */ (async () => {}).constructor;
      const values = await new Async('file', `${script}\nreturn { ${wanted} };`)(new File([srt], 'talk.srt'));
      // What cannot travel is none of the results.
      return JSON.parse(JSON.stringify(values, (_, value) => (value && typeof value.dispose === 'function' ? undefined : value)));
    }, /** @type {const} */ ([body, names.join(', '), transcript]));
    let compared = 0;
    for (const [, name, list, said] of code.matchAll(/^\s*\/\/ (\w+): (\[\{ text: )?"(.*?)"/gm)) {
      assert.equal(list ? given[name ?? ''][0].text : given[name ?? ''], said, name);
      compared++;
    }
    if (given.steps) assert.ok(given.steps.length >= 3 && given.steps.length <= 7);
    if (given.segments) assert.equal(given.segments.length, 2);
    assert.ok(compared || given.cleaned, 'something came out');
  });
}

/** @param {string} code */
function inNode(code) {
  const folder = mkdtempSync(join(tmpdir(), 'fairhand-readme-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packed, join(folder, 'node_modules', 'fairhand'));
    copyFileSync(site.modelPath, join(folder, 'model.gguf'));
    writeFileSync(join(folder, 'main.mjs'), code);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /topic: '[a-z-]+',\n/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
