// The model cache in Chromium: interrupted, shared between tabs, out of room, cleared away.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { flaky } from '../support/flaky-server.mjs';
import { PATIENCE, start } from './harness.mjs';

const small = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(3_000_000, 5)]);
const server = flaky(small);
/** @type {ReturnType<typeof flaky>} */
let real;
/** @type {Awaited<ReturnType<typeof start>>} */
let site;
/** @type {import('playwright-core').BrowserContext} */
let context;
/** @type {import('playwright-core').Page} */
let page;

before(async () => {
  site = await start({
    '/blank': (_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>blank</title>'),
    '/flaky.gguf': server.handler,
    '/real.gguf': (request, response) => real.handler(request, response),
  });
  real = flaky(readFileSync(site.modelPath));
});
after(() => site.close());

beforeEach(async () => {
  server.behave({});
  await context?.close();
  context = await site.browser.newContext();
  page = await open();
});

/** @param {() => void} [init] runs before any script of the page */
async function open(init) {
  const opened = await context.newPage();
  opened.setDefaultTimeout(PATIENCE);
  if (init) await opened.addInitScript(init);
  await opened.goto(new URL('blank', site.url).href);
  return opened;
}

/** Fetches the small file into the cache, in the page's thread. @param {import('playwright-core').Page} [tab] */
const add = (tab = page) => tab.evaluate(async () => {
  const { modelCache } = await import(`${location.origin}/src/index.js`);
  /** @type {any[]} */
  const seen = [];
  const model = await modelCache.add('/flaky.gguf', { onProgress: (/** @type {any} */ p) => seen.push(p) }).catch((/** @type {any} */ e) => ({ code: e.code, message: e.message }));
  return { ...model, resumedFrom: seen.at(-1)?.resumedFrom, fromCache: seen.at(-1)?.fromCache, rates: seen.filter((p) => p.bytesPerSecond > 0).length };
});

describe('modelCache', () => {
  test('fetches once, lists, verifies, estimates, deletes', { timeout: PATIENCE }, async () => {
    const { sha256, size, complete } = await add();
    assert.deepEqual([sha256.length, size, complete], [64, small.length, true]);
    assert.equal((await add()).fromCache, true);
    assert.equal(server.heard.length, 1);
    const got = await page.evaluate(async () => {
      const { modelCache } = await import(`${location.origin}/src/index.js`);
      const [model] = await modelCache.list();
      const intact = await modelCache.verify(model);
      // A bit rots on the disk.
      const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('fairhand-models');
      const writer = await (await folder.getFileHandle(`${model.key}.gguf`)).createWritable({ keepExistingData: true });
      await writer.write({ type: 'write', position: 1000, data: new Uint8Array([0]) });
      await writer.close();
      const rotten = await modelCache.verify('/flaky.gguf');
      const estimate = await modelCache.estimate();
      const gone = [await modelCache.delete(model), await modelCache.delete(model), await modelCache.has('/flaky.gguf')];
      const missing = await modelCache.verify(model).catch((/** @type {any} */ error) => error.code);
      return { url: model.url, intact, rotten, estimate, gone, missing };
    });
    assert.equal(got.url, new URL('flaky.gguf', site.url).href);
    assert.deepEqual([got.intact, got.rotten, got.missing], [true, false, 'invalid-argument']);
    assert.equal(got.estimate.kind, 'opfs');
    assert.ok(got.estimate.availableBytes > 0 && got.estimate.usedBytes >= small.length);
    assert.deepEqual(got.gone, [true, false, false]);
  });

  for (const share of [0.01, 0.5, 0.99]) {
    test(`a connection cut at ${share * 100} % goes on`, { timeout: PATIENCE }, async () => {
      server.behave({ cuts: [Math.round(small.length * share)], settleMs: 1000 });
      assert.equal((await add()).complete, true);
      assert.equal(server.heard.length, 2);
        // So early a cut may lose all that was sent; later ones cannot.
      if (share > 0.1) assert.match(server.heard[1].range ?? '', /^bytes=\d+-$/);
    });
  }

  test('two tabs share one download', { timeout: PATIENCE }, async () => {
    server.behave({ bytesPerSecond: 6e6 });
    const second = await open();
    const results = await Promise.all([add(), add(second)]);
    assert.deepEqual(results.map(({ complete }) => complete), [true, true]);
    assert.ok(results.some(({ rates }) => rates > 0), 'the rate is told');
    assert.equal(server.heard.length, 1);
  });

  test('without room the failure says so, and a load goes on in memory', { timeout: PATIENCE }, async () => {
    const session = await context.newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(site.url).origin, quotaSize: 1_000_000 });
    const { code, message } = await add();
    assert.equal(code, 'storage-quota');
    assert.match(message, /too little space/);
    const left = await page.evaluate(async () => (await (await import(`${location.origin}/src/index.js`)).modelCache.list()).length);
    assert.equal(left, 0);
    const info = await page.evaluate(loadReal);
    assert.deepEqual([info.kept, info.fromCache], ['none', false]);
    assert.match(info.notice ?? '', /too little space/);
  });

  test('without a private file system the Cache API keeps it; without both nothing does, and it says so', { timeout: PATIENCE }, async () => {
    page = await open(() => {
      navigator.storage.getDirectory = () => Promise.reject(new DOMException('not here', 'SecurityError'));
    });
    assert.equal((await add()).complete, true);
    assert.equal((await add()).fromCache, true);
    assert.equal(await page.evaluate(async () => (await (await import(`${location.origin}/src/index.js`)).modelCache.estimate()).kind), 'cache-api');
    page = await open(() => {
      navigator.storage.getDirectory = () => Promise.reject(new DOMException('not here', 'SecurityError'));
      CacheStorage.prototype.open = () => Promise.reject(new DOMException('not here', 'SecurityError'));
    });
    const { code, message } = await add();
    assert.deepEqual([code, /private window/.test(message)], ['storage-quota', true]);
  });

  test('storage that is cleared away in the middle costs the keeping and not the load', { timeout: PATIENCE }, async () => {
    server.behave({ bytesPerSecond: 3e6 });
    const adding = add();
    await page.waitForTimeout(400);
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin: new URL(site.url).origin, storageTypes: 'file_systems' });
    const result = await adding;
    assert.ok(result.complete || result.code === 'storage-quota', JSON.stringify(result));
    server.behave({});
    assert.equal((await add()).complete, true, 'and the next load is whole');
  });
});

/** Loads the real model behind a worker and tells where it came from. */
async function loadReal() {
  /** @type {typeof import('../../dist/src/index.js')} */
  const { load } = await import(`${location.origin}/src/index.js`);
  /** @type {any[]} */
  const seen = [];
  const engine = await load('/real.gguf', { onProgress: (progress) => seen.push(progress) });
  const words = (await engine.countTokens('one two three')) >= 3;
  const { storage } = engine.info;
  await engine.dispose();
  return { ...storage, words, phases: [...new Set(seen.map(({ phase }) => phase))], last: seen.at(-1) };
}

test('a page that is closed in the middle of a load resumes it, and the next load needs no network', { timeout: PATIENCE }, async () => {
  real.behave({ stall: 20_000_000 });
  void page.evaluate(async () => {
    const { load } = await import(`${location.origin}/src/index.js`);
    void load('/real.gguf', { onProgress: (/** @type {any} */ { loaded }) => (/** @type {any} */ (window).loaded = loaded) }).catch(() => {});
  });
  await page.waitForFunction(() => /** @type {any} */ (window).loaded >= 16_000_000);
  await page.close();
  real.behave({});
  page = await open();
  const resumed = await page.evaluate(loadReal);
  assert.deepEqual([resumed.kept, resumed.words], ['opfs', true]);
  assert.ok((resumed.resumedFrom ?? 0) >= 16_000_000);
  assert.deepEqual(real.heard.map(({ range }) => range), [`bytes=${resumed.resumedFrom}-`]);
  const again = await page.evaluate(loadReal);
  assert.deepEqual([again.fromCache, again.words], [true, true]);
  // Its header lies in the first piece.
  assert.deepEqual(again.phases, ['weights']);
  assert.equal(again.last.loaded, again.last.total);
  assert.equal(real.heard.length, 1);
});

test('an engine outlives its storage, and a crash after that fetches the model anew', { timeout: PATIENCE }, async () => {
  const workers = /** @type {import('playwright-core').Worker[]} */ ([]);
  page.on('worker', (worker) => worker.url().endsWith('/worker.js') && workers.push(worker));
  await page.evaluate(async () => {
    const { load } = await import(`${location.origin}/src/index.js`);
    /** @type {any} */ (window).engine = await load('/real.gguf');
  });
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin: new URL(site.url).origin, storageTypes: 'all' });
  const count = () => page.evaluate(() => /** @type {any} */ (window).engine.countTokens('one two three').catch((/** @type {any} */ error) => `${error.code}: ${error.message} ${error.cause?.message}`));
  const tokens = await count();
  assert.ok(tokens >= 3);
  await workers[0].evaluate('self.close()').catch(() => {});
  await page.waitForTimeout(100);
  // The call that finds the worker gone fails; the one after it has a new worker, which fetches the model again.
  const calls = [await count(), await count()];
  assert.equal(calls.at(-1), tokens, JSON.stringify(calls));
});
