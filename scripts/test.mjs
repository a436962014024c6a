// npm test: the set-up, then every check there is. Closing line: `N passed, N failed`.
//   npm test -- [STAGE …]    some stages alone, by the names below
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, main } from './lib/fail.mjs';
import { root, site } from './lib/paths.mjs';
import { run, status } from './lib/run.mjs';
import { seconds } from './lib/step.mjs';
import { chromium } from './steps/chromium.mjs';
import { model } from './steps/model.mjs';
import { npmPackages } from './steps/npm.mjs';
import { cargoEnvironment, rust } from './steps/rust.mjs';
import { build, buildWithinBudget, checkTypes } from './steps/site.mjs';
import { wasmBindgen } from './steps/wasm-bindgen.mjs';
import { wasmTarget } from './steps/wasm-target.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/**
 * Each stage either returns its tests' count, or counts as one test that passes unless it throws.
 * @type {Record<string, () => Promise<Count | void>>}
 */
const stages = {
  rustfmt: () => run('cargo', ['fmt', '--check'], { cwd: root, advice: 'Rust sources are not formatted: run `npm run format`.' }),
  clippy: () => run('cargo', ['clippy', '--release', '--all-targets', '--', '-D', 'warnings'], cargo()),
  cargo: cargoTests,
  build: buildWithinBudget,
  typescript: checkTypes,
  node: () => nodeTests('node'),
  browser: () => nodeTests('browser'),
};

await main(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !Object.hasOwn(stages, name));
  if (unknown) throw new Failure(`There is no stage ${unknown}: choose from ${Object.keys(stages).join(', ')}.`);
  const chosen = wanted.length ? wanted : Object.keys(stages);
  await setUp(chosen);

  const start = Date.now();
  const total = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const table = [];
  for (const name of chosen) {
    console.log(`\n── ${name} ${'─'.repeat(70 - name.length)}`);
    const stageStart = Date.now();
    const count = await countOf(stages[name]);
    total.passed += count.passed;
    total.failed += count.failed;
    total.skipped += count.skipped;
    table.push(`${count.failed ? '✗' : '✓'} ${name.padEnd(12)}${line(count).padEnd(36)}${seconds(stageStart)}`);
  }
  console.log(`\n${table.join('\n')}\n\nall stages took ${seconds(start)}\n${line(total)}`);
  if (total.failed) process.exitCode = 1;
});

/** @param {string[]} chosen */
async function setUp(chosen) {
  const needs = (/** @type {string[]} */ ...names) => names.some((name) => chosen.includes(name));
  await rust();
  if (needs('build', 'typescript', 'node', 'browser')) await npmPackages();
  if (needs('build', 'typescript')) await wasmTarget();
  if (needs('build', 'typescript')) await wasmBindgen();
  if (needs('cargo', 'browser')) process.env.FAIRHAND_MODEL = await model();
  if (needs('browser')) process.env.FAIRHAND_CHROMIUM = await chromium();
  if (needs('node', 'browser') && !chosen.includes('build') && !existsSync(site)) await build();
}

/** @param {() => Promise<Count | void>} stage @returns {Promise<Count>} */
async function countOf(stage) {
  try {
    return (await stage()) ?? { passed: 1, failed: 0, skipped: 0 };
  } catch (error) {
    console.error(error instanceof Failure ? `✗ ${error.message}` : error);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** @param {Count} count */
function line({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

function cargo() {
  return { cwd: root, env: cargoEnvironment() };
}

/** All of cargo's tests. Each test binary prints its own count; a compile error prints none and counts as one failure. */
async function cargoTests() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const code = await status('cargo', ['test', '--release', '--no-fail-fast'], {
    ...cargo(),
    onLine(text) {
      const found = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/.exec(text);
      if (!found) return;
      total.passed += Number(found[1]);
      total.failed += Number(found[2]);
      total.skipped += Number(found[3]);
    },
  });
  if (code !== 0 && total.failed === 0) total.failed = 1;
  return total;
}

/** The tests of one folder under tests/, run by Node's own runner. @param {string} folder */
async function nodeTests(folder) {
  const scratch = mkdtempSync(join(tmpdir(), 'fairhand-'));
  const report = join(scratch, 'report.tap');
  try {
    const code = await status(
      process.execPath,
      // One file at a time: the browser tests share two cores with a language model.
      ['--test', '--test-concurrency=1', '--test-reporter=spec', '--test-reporter-destination=stdout',
        '--test-reporter=tap', `--test-reporter-destination=${report}`, ...testFiles(folder)],
      { cwd: root },
    );
    const tap = readFileSync(report, 'utf8');
    const number = (/** @type {string} */ name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0);
    const total = { passed: number('pass'), failed: number('fail') + number('cancelled'), skipped: number('skipped') };
    if (code !== 0 && total.failed === 0) total.failed = 1;
    return total;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function testFiles(folder) {
  const path = join(root, 'tests', folder);
  return readdirSync(path).filter((name) => name.endsWith('.test.mjs')).sort().map((name) => join(path, name));
}
