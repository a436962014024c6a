// What the documentation shows: every example has the package's types, what needs no model runs, and no file named is missing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadCleaner } from '../../dist/src/local.js';
import { packed, root } from '../../scripts/lib/paths.mjs';
import { snippets } from '../support/snippets.mjs';

const folder = mkdtempSync(join(tmpdir(), 'fairhand-docs-'));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(packed, join(folder, 'node_modules', 'fairhand'));
const run = (/** @type {string} */ command, /** @type {string[]} */ args) => spawnSync(command, args, { cwd: folder, input: '', encoding: 'utf8' });
const documents = ['README.md', 'docs/guides.md'];

/** What an example takes from the place that a reader copies it into. */
const PRELUDE = `
import type { AnswerCache, CallRecord, Engine, ModelSource } from 'fairhand';
declare global {
  const engine: Engine;
  const source: ModelSource;
  const file: File;
  const note: string;
  const text: string;
  const bar: { show(...facts: unknown[]): void };
  const log: { append(record: CallRecord): Promise<void> };
  const store: { get(key: string): Promise<any>; put(key: string, value: unknown): Promise<void>; set(key: string, value: unknown): Promise<void> };
  const captions: { on(event: 'final', hear: (segment: string) => void): void };
  function show(...facts: unknown[]): void;
  function load(source: ModelSource, options?: import('fairhand').LoadOptions): Promise<Engine>;
  function loadCleaner(): Promise<import('fairhand').Cleaner>;
}
`;

test('every example has the types of the package', () => {
  const examples = documents.flatMap((path) => snippets(path, 'js'));
  assert.ok(examples.length > 10);
  const names = examples.map(({ where, code }) => {
    const name = `${where.replace(/\W+/g, '-')}.ts`;
    writeFileSync(join(folder, name), `${code}\nexport {};\n`);
    return name;
  });
  writeFileSync(join(folder, 'prelude.ts'), PRELUDE);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = '--noEmit --strict --skipLibCheck --target es2022 --module nodenext --types'.split(' ');
  const { status, stdout } = run(process.execPath, [tsc, ...flags, '', '--lib', 'es2023,dom,dom.iterable', 'prelude.ts', ...names]);
  assert.equal(status, 0, stdout);
});

test('every command of the package is one of its command line', () => {
  const lines = documents.flatMap((path) => snippets(path, 'sh')).flatMap(({ code }) => code.split('\n')).filter((line) => line.startsWith('npx fairhand'));
  assert.ok(lines.length >= 6);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [, name] of documents.flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(/npm run\s+([\w:-]+)/g)])) assert.ok(scripts[name ?? ''], `npm run ${name}`);
  for (const line of lines) {
    // Without its files and its model: a command line that is right in itself fails for want of them, and with no other status.
    const args = line.replace(/#.*|<.*/g, '').trim().split(/\s+/).slice(2);
    const { status, stderr } = run(process.execPath, [join(packed, 'cli.js'), ...args]);
    assert.ok(status === 1 || status === 3 || args.includes('-'), `${line}: ${status} ${stderr}`);
    assert.notEqual(status, 2, `${line}: ${stderr}`);
  }
});

test('every file of the project that a document names is there', () => {
  for (const path of [...documents, 'ARCHITECTURE.md']) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [, named] of text.matchAll(/`((?:src|www|docs|tests|scripts|pkg-config|grammars|benches)\/[\w./-]*)`/g)) {
      assert.ok(existsSync(join(root, named ?? '')), `${path} names ${named}`);
    }
  }
});

test('the page\u2019s own example is what comes out', async () => {
  const html = readFileSync(join(root, 'www', 'page', 'index.html'), 'utf8');
  const [, raw, cleaned] = /class="example">“(.*?)” becomes “(.*?)”</.exec(html.replace(/<\/?mark[^>]*>/g, '')) ?? [];
  const cleaner = await loadCleaner();
  assert.equal((await cleaner.cleanup(raw ?? '')).text, cleaned);
});
