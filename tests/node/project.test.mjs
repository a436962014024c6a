// Habits of the project that a slip would break silently.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/lib/paths.mjs';
import { lockedVersion } from '../../scripts/steps/wasm-bindgen.mjs';

const TOP = new Set(
  '.cargo .ci .gitignore .npmrc ARCHITECTURE.md CHANGELOG.md Cargo.lock Cargo.toml LICENSE-APACHE LICENSE-MIT README.md benches docs fuzz grammars package-lock.json package.json pkg-config rustfmt.toml scripts src tests tsconfig.json www'.split(' '),
);
const read = (/** @type {string} */ path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the lock file names no registry', () => {
  assert.doesNotMatch(read('package-lock.json'), /"resolved"|https?:/);
});

test('the page carries the policy that the server sends', () => {
  const sent = JSON.parse(read('pkg-config/headers.json'))['Content-Security-Policy'];
  const carried = /Content-Security-Policy"\s+content="([^"]+)"/.exec(read('www/page/index.html'))?.[1];
  // A page cannot say of itself who may frame it.
  assert.equal(`${carried}; frame-ancestors 'none'`, sent);
});

test('a version is read from a Cargo.lock, and of the right package', () => {
  const lock = '[[package]]\nname = "wasm-bindgen-shared"\nversion = "1.0.0"\n\n[[package]]\nname = "wasm-bindgen"\nversion = "0.2.130"\n';
  assert.equal(lockedVersion(lock, 'wasm-bindgen'), '0.2.130');
  assert.throws(() => lockedVersion(lock, 'bindgen'), /does not name/);
});

test('every file that the package exports is there', () => {
  const { exports, version } = JSON.parse(read('pkg/package.json'));
  assert.match(version, /^\d+\.\d+\.\d+$/);
  for (const target of Object.values(exports).flatMap((value) => (typeof value === 'string' ? [value] : Object.values(value)))) {
    read(`pkg/${target.replace('*', 'threads/fairhand_bg.wasm')}`);
  }
});

test('every test that the promises of the boundary name is there', () => {
  const named = [...read('docs/boundary.md').matchAll(/`([\w./-]+\.(?:rs|mjs))::([^`]+)`/g)];
  assert.ok(named.length > 40);
  for (const [, file, name] of named) assert.ok(read(file).includes(name), `${file} has no test "${name}"`);
});

test('the top level holds what it is meant to, and nothing that a tool has left there', { skip: existsSync(join(root, '.git')) ? false : 'no git' }, () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  const top = [...new Set(tracked.map((path) => path.split('/')[0]))].sort();
  assert.deepEqual(top.filter((name) => !TOP.has(name ?? '')), []);
});
