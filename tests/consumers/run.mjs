// npm run consumers: the packed tarball as others use it: Vite (dev and build), webpack, Node, a plain module script; then
// publint, arethetypeswrong and a dry publish. The tools are installed into a folder of their own, outside the project.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { launch } from '../../scripts/lib/browser.mjs';
import { main } from '../../scripts/lib/fail.mjs';
import { cache, packed, site } from '../../scripts/lib/paths.mjs';
import { run } from '../../scripts/lib/run.mjs';
import { bytes } from '../../scripts/lib/step.mjs';
import { web } from '../../scripts/steps/site.mjs';

const TOOLS = { vite: '8.4.0', webpack: '5.113.0', 'webpack-cli': '7.3.1', publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5', '@wllama/wllama': '3.13.0' };
const tools = join(cache, 'consumers');
const work = mkdtempSync(join(tmpdir(), 'fairhand-consumers-'));

const SCRIPT = `import { loadCleaner } from 'fairhand';
const cleaner = await loadCleaner();
document.title = (await cleaner.cleanup('um hello question mark')).text;
await cleaner.dispose();
`;
const HTML = '<!doctype html><title>…</title><script type="module" src="SRC"></script>';

await main(async () => {
  if (!existsSync(site)) await web();
  await installTools();
  const tarball = pack();
  const browser = await launch();
  /** @type {[string, () => Promise<string>][]} */
  const checks = [
    ['Node', () => inNode(tarball)],
    ['a plain module script', () => plain(tarball, browser)],
    ['Vite build', () => viteBuild(tarball, browser)],
    ['Vite dev', () => viteDev(tarball, browser)],
    ['webpack', () => webpack(tarball, browser)],
    ['publint', async () => tool('publint', ['run', packed, '--strict'])],
    ['arethetypeswrong', async () => tool('attw', [tarball, '--profile', 'esm-only', '--format', 'ascii', '--exclude-entrypoints', './worker'])],
    ['npm publish --dry-run', async () => dryPublish()],
    ['sizes', async () => sizes(tarball)],
  ];
  const failed = [];
  for (const [name, check] of checks) {
    try {
      console.log(`✓ ${name}: ${(await check()).trim().split('\n').at(-1)}`);
    } catch (error) {
      failed.push(name);
      console.log(`✗ ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  await browser.close();
  rmSync(work, { recursive: true, force: true });
  console.log(`${checks.length - failed.length} passed, ${failed.length} failed`);
  if (failed.length) process.exitCode = 1;
});

async function installTools() {
  const wanted = JSON.stringify({ private: true, dependencies: TOOLS }, null, 2);
  const manifest = join(tools, 'package.json');
  if (existsSync(join(tools, 'node_modules')) && existsSync(manifest) && readFileSync(manifest, 'utf8') === wanted) return;
  mkdirSync(tools, { recursive: true });
  writeFileSync(manifest, wanted);
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: tools, advice: 'npm could not install the tools: check that it reaches its registry.' });
}

function pack() {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--json', '--pack-destination', work], { cwd: packed, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return join(work, JSON.parse(stdout)[0].filename);
}

/** A folder with the tarball installed. @param {string} name @param {string} tarball @param {Record<string, string>} files */
function app(name, tarball, files) {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }));
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--offline', tarball], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
  return folder;
}

/** @param {string} name @param {string[]} args @param {string} [cwd] */
function tool(name, args, cwd = work) {
  const { status, stdout, stderr } = spawnSync(join(tools, 'node_modules', '.bin', name), args, { cwd, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  return stdout || stderr;
}

/** @param {string} tarball */
async function inNode(tarball) {
  const folder = app('node', tarball, { 'main.js': "import { loadCleaner } from 'fairhand/local';\nconsole.log((await (await loadCleaner()).cleanup('um hello question mark')).text);\n" });
  const { stdout, stderr } = spawnSync(process.execPath, ['main.js'], { cwd: folder, encoding: 'utf8' });
  assert.equal(stdout, 'Hello?\n', stderr);
  const cli = spawnSync('npx', ['--offline', 'fairhand', 'clean', '-'], { cwd: folder, encoding: 'utf8', input: 'um hello question mark' });
  assert.equal(cli.stdout, 'Hello?\n', cli.stderr);
  return 'the library and npx fairhand';
}

/** @param {string} tarball @param {import('playwright-core').Browser} browser */
async function plain(tarball, browser) {
  const map = `<script type="importmap">{"imports":{"fairhand":"/node_modules/fairhand/index.js"}}</script>`;
  const folder = app('plain', tarball, { 'main.js': SCRIPT, 'index.html': HTML.replace('<script', `${map}<script`).replace('SRC', '/main.js') });
  return worksIn(browser, folder);
}

/** @param {string} tarball @param {import('playwright-core').Browser} browser */
async function viteBuild(tarball, browser) {
  const folder = app('vite', tarball, { 'main.js': SCRIPT, 'index.html': HTML.replace('SRC', '/main.js'), 'vite.config.js': "export default { build: { target: 'es2022' }, worker: { format: 'es' } };\n" });
  tool('vite', ['build'], folder);
  onePerVariant(join(folder, 'dist'));
  return worksIn(browser, join(folder, 'dist'));
}

/** @param {string} tarball @param {import('playwright-core').Browser} browser */
async function viteDev(tarball, browser) {
  const folder = app('vite-dev', tarball, { 'main.js': SCRIPT, 'index.html': HTML.replace('SRC', '/main.js'), 'vite.config.js': "export default { optimizeDeps: { exclude: ['fairhand'] } };\n" });
  const server = spawn(join(tools, 'node_modules', '.bin', 'vite'), ['--port', '0', '--host', '127.0.0.1'], { cwd: folder, env: { ...process.env, NO_COLOR: '1' } });
  try {
    const url = await new Promise((resolve, reject) => {
      let said = '';
      server.stdout.on('data', (text) => {
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec((said += text));
        if (found) resolve(found[0]);
      });
      server.on('close', () => reject(new Error(said)));
    });
    return await title(browser, url);
  } finally {
    server.kill();
  }
}

/** @param {string} tarball @param {import('playwright-core').Browser} browser */
async function webpack(tarball, browser) {
  const folder = app('webpack', tarball, {
    'main.js': SCRIPT,
    'webpack.config.js': "export default { mode: 'production', entry: './main.js', output: { module: true, publicPath: '/' }, experiments: { outputModule: true } };\n",
  });
  tool('webpack', [], folder);
  writeFileSync(join(folder, 'dist', 'index.html'), HTML.replace('SRC', '/main.mjs'));
  onePerVariant(join(folder, 'dist'));
  return worksIn(browser, join(folder, 'dist'));
}

/** A bundle carries each of the package's wasm modules once. @param {string} folder */
function onePerVariant(folder) {
  const count = (/** @type {string} */ path) => readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.wasm')).length;
  assert.equal(count(folder), count(packed), 'one wasm file a variant');
}

/** @param {import('playwright-core').Browser} browser @param {string} folder */
async function worksIn(browser, folder) {
  const types = /** @type {Record<string, string>} */ ({ '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' });
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? '/', 'http://x').pathname.replace(/\/$/, '/index.html'));
    if (!existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  try {
    return await title(browser, `http://127.0.0.1:${port}/`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** @param {import('playwright-core').Browser} browser @param {string} url */
async function title(browser, url) {
  const page = await browser.newPage();
  /** @type {string[]} */
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && !/favicon|404/.test(message.text()) && faults.push(message.text()));
  try {
    await page.goto(url);
    await page.waitForFunction(() => document.title === 'Hello?', undefined, { timeout: 60_000 });
    return 'it cleans';
  } catch {
    throw new Error(`it does not work: ${faults.join('; ') || 'nothing happened'}`);
  } finally {
    await page.close();
  }
}

function dryPublish() {
  const { status, stderr } = spawnSync('npm', ['publish', '--dry-run', '--access', 'public'], { cwd: packed, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  // Nobody is logged in where tests run, and a dry run does without.
  assert.doesNotMatch(stderr, /npm warn (?!publish This command requires you to be logged in)/i);
  return 'clean';
}

/** @param {string} tarball */
function sizes(tarball) {
  const weigh = (/** @type {string} */ folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.wasm'))
      .map((name) => `${name} ${bytes(statSync(join(folder, name)).size)}, gzip ${bytes(gzipSync(readFileSync(join(folder, name)), { level: 9 }).length)}`);
  const wllama = join(tools, 'node_modules', '@wllama', 'wllama');
  const peer = spawnSync('npm', ['pack', '--json', '--dry-run'], { cwd: wllama, encoding: 'utf8' });
  console.log(`  fairhand: tarball ${bytes(statSync(tarball).size)}; ${weigh(packed).join('; ')}`);
  console.log(`  wllama ${TOOLS['@wllama/wllama']}: tarball ${bytes(JSON.parse(peer.stdout)[0].size)}; ${weigh(wllama).join('; ')}`);
  return 'printed above';
}
