// The build: Rust → wasm → the npm package in pkg/ and the site in dist/, with their sizes held to a budget.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Failure } from '../lib/fail.mjs';
import { extensions, packed, root, site, target } from '../lib/paths.mjs';
import { run } from '../lib/run.mjs';
import { bytes, say, seconds } from '../lib/step.mjs';
import { npmPackages } from './npm.mjs';
import { lockedVersion, wasmBindgen } from './wasm-bindgen.mjs';
import { wasmTarget } from './wasm-target.mjs';

const profile = 'wasm-release';
/** wasm-bindgen's output, a folder for each variant: imported by the TypeScript sources, typed by its own declarations. */
const bindings = join(root, 'www', 'src', 'wasm');
// wasm-opt runs as JavaScript: the last few per cent of its higher levels cost minutes. FAIRHAND_WASM_OPT= (empty) skips
// it while one works on the Rust side; the size budget may then fail.
const level = process.env.FAIRHAND_WASM_OPT ?? '-O2';
// Every engine that has SIMD has these too; without the names wasm-opt would refuse the compiler's output.
const common = ['simd', 'bulk-memory', 'nontrapping-float-to-int', 'sign-ext', 'mutable-globals', 'reference-types', 'multivalue'];

/**
 * The modules of the package: the client picks one by what the browser can do.
 * @typedef {object} Variant
 * @property {string} name
 * @property {string[]} features for wasm-opt
 * @property {string} [flags] for rustc, in the place of those in .cargo/config.toml
 * @property {string[]} [link] for rustc, when it links
 * @property {string} [folder] under cargo's target directory, so that two sets of flags do not replace each other's dependencies
 */
/** @type {Variant[]} */
const variants = [
  { name: 'simd', features: common },
  {
    name: 'threads',
    features: [...common, 'relaxed-simd', 'threads'],
    folder: 'threads',
    link: ['-C', 'link-arg=--initial-memory=8388608'], // 128 pages: www/src/module.ts makes the memory and has to know
    flags: [
      '--cfg getrandom_backend="wasm_js"',
      '-C target-feature=+simd128,+relaxed-simd,+atomics,+bulk-memory,+mutable-globals',
      // The memory comes from JavaScript, which may set a lower maximum; each thread asks for its own storage in it.
      '-C link-arg=--shared-memory -C link-arg=--import-memory -C link-arg=--max-memory=4294967296',
      ...['__wasm_init_tls', '__tls_size', '__tls_align', '__tls_base'].map((name) => `-C link-arg=--export=${name}`),
    ].join(' '),
  },
];

/** Builds everything. */
export async function build() {
  await wasm();
  await typescript();
  assemble();
}

/** Builds what TypeScript and the page give, around the wasm of the last whole build. */
export async function web() {
  if (!existsSync(bindings)) await wasm();
  await typescript();
  assemble();
}

/** Builds everything, and fails when a part is over its size budget. */
export async function buildWithinBudget() {
  await build();
  sizes();
}

/** Rust → `www/src/wasm/`. */
export async function wasm() {
  for (const variant of variants) await wasmVariant(variant);
}

/** @param {Variant} variant */
async function wasmVariant({ name, features, flags, link = [], folder }) {
  const { cargo, args, env } = await wasmTarget();
  const bindgen = await wasmBindgen();
  await npmPackages();
  const targetDir = join(process.env.CARGO_TARGET_DIR ?? target, folder ?? '');
  const own = flags && { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: flags };
  await run(
    cargo,
    ['rustc', '--lib', '--target', 'wasm32-unknown-unknown', '--profile', profile, ...args, '--', ...link],
    { cwd: root, env: { ...env, ...own, CARGO_TARGET_DIR: targetDir } },
  );
  const compiled = join(targetDir, 'wasm32-unknown-unknown', profile, 'fairhand.wasm');
  const output = join(bindings, name);
  const stamp = join(output, '.built-from');
  const digest = createHash('sha256').update(readFileSync(compiled)).update(level).update(features.join()).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  say(`• wasm (${name}): binding and optimising (${level ? 'a minute or two' : 'not: FAIRHAND_WASM_OPT is empty'}) …`);
  const start = Date.now();
  rmSync(output, { recursive: true, force: true });
  await run(bindgen, ['--target', 'web', '--out-dir', output, '--out-name', 'fairhand', compiled]);
  const binary = join(output, 'fairhand_bg.wasm');
  const enabled = features.map((feature) => `--enable-${feature}`);
  if (level) await run(process.execPath, [join(root, 'node_modules', 'binaryen', 'bin', 'wasm-opt'), level, ...enabled, binary, '-o', binary]);
  writeFileSync(stamp, digest); // last: without it the next build starts over
  say(`✓ wasm (${name}): done in ${seconds(start)}`);
}

/** `www/` → `dist/`. */
async function typescript() {
  await npmPackages();
  rmSync(site, { recursive: true, force: true });
  await tsc('-p', join(root, 'www'));
}

/** Checks every type: the package and the page, and these scripts and the tests against what was built. */
export async function checkTypes() {
  await npmPackages();
  if (!variants.every(({ name }) => existsSync(join(bindings, name))) || !existsSync(site)) await build();
  await tsc('-p', join(root, 'www'), '--noEmit');
  await tsc('-p', root);
}

/** @param {string[]} args */
function tsc(...args) {
  const advice = 'TypeScript found errors: see its output above.';
  return run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...args], { cwd: root, advice });
}

/** Adds what TypeScript does not write: the wasm, the page's own files, and the npm package as a folder. */
function assemble() {
  for (const { name } of variants) {
    cpSync(join(bindings, name), join(site, 'src', 'wasm', name), { recursive: true, filter: (path) => !path.endsWith('.built-from') });
  }
  cpSync(join(root, 'src', 'tasks', 'cleanup', 'tagger', 'weights.bin'), join(site, 'src', 'wasm', 'marks.bin'));
  const page = join(root, 'www', 'page');
  for (const name of readdirSync(page).filter((file) => !file.endsWith('.ts') && !['index.html', 'sw.js'].includes(file))) {
    cpSync(join(page, name), join(site, 'page', name), { recursive: true });
  }
  cpSync(join(page, 'index.html'), join(site, 'index.html'));
  writeServiceWorker(join(page, 'sw.js'));

  assembleExtensions();

  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed);
  cpSync(join(site, 'src'), packed, { recursive: true });
  for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE-MIT', 'LICENSE-APACHE']) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(packed, name));
  }
  const manifest = JSON.parse(readFileSync(join(root, 'pkg-config', 'package.json'), 'utf8'));
  manifest.version = lockedVersion(readFileSync(join(root, 'Cargo.lock'), 'utf8'), 'fairhand');
  writeFileSync(join(packed, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The extension for each kind of browser: the package, its own scripts, and a manifest. What it runs is all inside. */
function assembleExtensions() {
  const source = join(root, 'www', 'extension');
  const common = JSON.parse(readFileSync(join(source, 'manifest.json'), 'utf8'));
  common.version = lockedVersion(readFileSync(join(root, 'Cargo.lock'), 'utf8'), 'fairhand');
  rmSync(extensions, { recursive: true, force: true });
  for (const browser of ['chromium', 'firefox']) {
    const folder = join(extensions, browser);
    cpSync(join(site, 'src'), join(folder, 'src'), { recursive: true, filter: (path) => !/\.d\.ts$|(cli|testing)\.js$/.test(path) });
    cpSync(join(site, 'extension'), join(folder, 'extension'), { recursive: true, filter: (path) => !path.endsWith('.d.ts') });
    for (const name of readdirSync(source).filter((file) => /\.(html|css)$/.test(file))) cpSync(join(source, name), join(folder, 'extension', name));
    for (const name of ['icon.svg', 'icon-512.png', 'dom.js']) cpSync(join(site, 'page', name), join(folder, 'page', name));
    const own = JSON.parse(readFileSync(join(source, `manifest.${browser}.json`), 'utf8'));
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify({ ...common, ...own }, null, 2)}\n`);
  }
  rmSync(join(site, 'extension'), { recursive: true });
}

/** Tells the service worker which files and headers there are, and gives it a name of its own for each set of files. @param {string} source */
function writeServiceWorker(source) {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(index\.html|page\/|src\/)/.test(name) && /\.(html|js|css|svg|png|webmanifest|vtt|wasm|bin)$/.test(name))
    // What no page loads: the command line, the stand-in for tests.
    .filter((name) => !/^src\/(cli|testing)\.js$/.test(name))
    .sort();
  const digest = createHash('sha256');
  for (const name of files) digest.update(name).update(readFileSync(join(site, name)));
  const list = JSON.stringify(['./', ...files.filter((name) => name !== 'index.html')]);
  const text = readFileSync(source, 'utf8')
    .replace('fairhand-page-VERSION', `fairhand-page-${digest.digest('hex').slice(0, 16)}`)
    .replace('const FILES = [];', () => `const FILES = ${list};`)
    .replace('const HEADERS = {};', () => `const HEADERS = ${readFileSync(join(root, 'pkg-config', 'headers.json'), 'utf8').trim()};`);
  writeFileSync(join(site, 'sw.js'), text);
}

/** Prints what a browser downloads before the model, and fails when a part is over its budget. */
function sizes() {
  /** @type {Record<string, { raw: number, gzip: number }>} */
  const budget = JSON.parse(readFileSync(join(root, 'pkg-config', 'size-budget.json'), 'utf8')).bytes;
  const over = [];
  say(`  ${'size'.padEnd(14)}${'raw'.padStart(12)}${'gzip'.padStart(12)}${'brotli'.padStart(12)}${'budget (raw, gzip)'.padStart(26)}`);
  for (const [name, files] of Object.entries(parts())) {
    const sum = { raw: 0, gzip: 0, brotli: 0 };
    for (const file of files) {
      const content = readFileSync(file);
      sum.raw += content.length;
      sum.gzip += gzipSync(content, { level: 9 }).length;
      sum.brotli += brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).length;
    }
    const limit = budget[name];
    say(`  ${name.padEnd(14)}${[sum.raw, sum.gzip, sum.brotli].map((n) => bytes(n).padStart(12)).join('')}${`${bytes(limit.raw)}, ${bytes(limit.gzip)}`.padStart(26)}`);
    if (sum.raw > limit.raw || sum.gzip > limit.gzip) over.push(name);
  }
  if (over.length) {
    throw new Failure(`Over the size budget: ${over.join(', ')}. Make it smaller, or raise pkg-config/size-budget.json and say why in the commit.`);
  }
}

/** The files of each budgeted part. */
function parts() {
  /** @param {string} folder @param {string[]} suffixes @returns {string[]} */
  const walk = (folder, suffixes) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile() && suffixes.some((suffix) => path.endsWith(suffix)));
  return {
    ...Object.fromEntries(variants.map(({ name }) => [`wasm ${name}`, walk(join(site, 'src', 'wasm', name), ['.wasm'])])),
    'marks.bin': [join(site, 'src', 'wasm', 'marks.bin')],
    package: walk(join(site, 'src'), ['.js']),
    page: [join(site, 'index.html'), ...walk(join(site, 'page'), ['.js', '.css', '.svg'])],
  };
}

