// Every implementation, with and without an isolated page, against what the interface promises; then hostile places.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { codeOf, contract } from '../support/contract.mjs';
import { PATIENCE, rendererMemory, start } from './harness.mjs';

const blank = '<!doctype html><title>blank</title>';
/** @type {Awaited<ReturnType<typeof start>>} */
let site;
/** @type {import('playwright-core').BrowserContext} */
let context;

before(async () => {
  site = await start({
    '/isolated': (_, response) => response.setHeader('content-type', 'text/html').end(blank),
    '/plain': (_, response) => {
      response.removeHeader('Cross-Origin-Opener-Policy');
      response.removeHeader('Cross-Origin-Embedder-Policy');
      response.setHeader('content-type', 'text/html').end(blank);
    },
    '/no-wasm': (_, response) => {
      response.setHeader('Content-Security-Policy', "script-src 'self'");
      response.setHeader('content-type', 'text/html').end(blank);
    },
    '/src/no-wasm-worker.js': (_, response) => {
      response.setHeader('Content-Security-Policy', "script-src 'self'");
      response.setHeader('content-type', 'text/javascript').end("import './worker.js';");
    },
    '/src/broken-worker.js': (_, response) => response.setHeader('content-type', 'text/javascript').end('throw new Error("broken");'),
  });
  context = await site.browser.newContext();
});
after(() => site.close());

/** @param {string} path @param {() => void} [init] */
async function open(path, init) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  if (init) await page.addInitScript(init);
  await page.goto(new URL(path, site.url).href);
  return page;
}

for (const path of ['isolated', 'plain']) {
  for (const entry of ['local', 'index']) {
    describe(`${entry}.js in a page that is ${path}`, () => {
      /** @type {import('playwright-core').Page} */
      let page;
      before(async () => {
        page = await open(path);
        await page.evaluate(async (name) => {
          const { load } = await import(`${location.origin}/src/${name}.js`);
          /** @type {any} */ (window).engine = await load('/models/default.gguf');
        }, entry);
      }, { timeout: PATIENCE });
      after(() => page.close());

      test('says how it runs', async () => {
        const [isolated, info] = await page.evaluate(() => [crossOriginIsolated, /** @type {any} */ (window).engine.info]);
        assert.equal(isolated, path === 'isolated');
        assert.equal(info.worker, entry === 'index');
        assert.ok(info.threads >= 1 && (isolated || info.threads === 1));
      });

      for (const [name, check] of contract) {
        test(name, { timeout: PATIENCE }, async () => {
          const pairs = await page.evaluate(`(async () => {
            ${codeOf};
            return (${check})({ engine: window.engine, codeOf });
          })()`);
          for (const [got, wanted] of /** @type {[unknown, unknown][]} */ (pairs)) assert.deepEqual(got, wanted);
        });
      }
    });
  }
}

describe('places where it cannot run say so, typed and in a sentence', () => {
  /** @param {import('playwright-core').Page} page @param {string} entry @param {string} [worker] */
  const failure = (page, entry, worker) => page.evaluate(async ([name, script]) => {
    const { loadCleaner } = await import(`${location.origin}/src/${name}.js`);
    return loadCleaner(script ? { worker: script } : {}).then(() => 'it works', (/** @type {any} */ { code, message }) => ({ code, message }));
  }, /** @type {const} */ ([entry, worker]));

  test('a policy without wasm-unsafe-eval', { timeout: PATIENCE }, async () => {
    const page = await open('no-wasm');
    for (const got of [await failure(page, 'local'), await failure(page, 'index', '/src/no-wasm-worker.js')]) {
      assert.deepEqual(got, { code: 'csp-blocked', message: "The page's content security policy must allow 'wasm-unsafe-eval' for scripts." });
    }
  });

  test('a browser without SIMD, and one without WebAssembly', { timeout: PATIENCE }, async () => {
    const old = await open('isolated', () => (WebAssembly.validate = () => false));
    const none = await open('isolated', () => delete (/** @type {any} */ (globalThis).WebAssembly));
    for (const entry of ['local', 'index']) {
      assert.deepEqual(await failure(old, entry), { code: 'unsupported-environment', message: 'WebAssembly SIMD is missing: this browser cannot run the engine.' });
      assert.deepEqual(await failure(none, entry), { code: 'unsupported-environment', message: 'WebAssembly is missing or switched off.' });
    }
  });

  test('a worker script that is missing or broken', { timeout: PATIENCE }, async () => {
    const page = await open('isolated');
    for (const script of ['/src/missing.js', '/src/broken-worker.js']) {
      const got = /** @type {any} */ (await failure(page, 'index', script));
      assert.equal(got.code, 'worker-crashed');
    }
  });
});

test('dispose gives the memory back', { timeout: PATIENCE, skip: process.platform !== 'linux' }, async () => {
  const page = await open('isolated');
  const before = await rendererMemory(site.browser);
  const during = [];
  const size = statSync(site.modelPath).size;
  for (let cycle = 0; cycle < 3; cycle++) {
    await page.evaluate(async () => {
      const { load } = await import(`${location.origin}/src/index.js`);
      const engine = (/** @type {any} */ (window).engine = await load('/models/default.gguf'));
      await engine.countTokens('one');
    });
    let held = Infinity;
    // The pieces that a model was read in are garbage now, and go when the browser likes.
    for (let i = 0; i < 30 && !(held - during[0] < 0.2 * size); i++) {
      await page.waitForTimeout(100);
      held = Math.min(held, (await rendererMemory(site.browser)) - before);
    }
    during.push(held);
    await page.evaluate(() => /** @type {any} */ (window).engine.dispose());
    // The browser takes an ended worker apart in its own time: two at once would be two models.
    for (let i = 0; i < 50 && (await rendererMemory(site.browser)) - before > size / 2; i++) await page.waitForTimeout(100);
  }
  let rest = Infinity;
  for (let i = 0; i < 50 && Math.min(...during) - rest < size; i++) {
    await page.waitForTimeout(100);
    rest = (await rendererMemory(site.browser)) - before;
  }
  const told = [...during, rest].map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`).join(', ');
  assert.ok(Math.min(...during) - rest >= size, `a model's size is given back: ${told}`);
  // A worker that has ended counts until half a model is left of it: see above. One that stayed would add a whole one each time.
  assert.ok(Math.max(...during) - during[0] < size / 2, `and the next one takes its place: ${told}`);
});
