// A model over a network that fails at any byte, into a store that may fail too.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { keyOf, openRemote } from '../../dist/src/cache/remote-model.js';
import { Sha256 } from '../../dist/src/cache/sha256.js';
import { Rate } from '../../dist/src/cache/rate.js';
import { flakyServer } from '../support/flaky-server.mjs';
import { random } from './random.mjs';

const next = random(1);
const model = Buffer.concat([Buffer.from('GGUF'), Buffer.from(Array.from({ length: 300_000 }, () => next(256)))]);
const digest = createHash('sha256').update(model).digest('hex');
const other = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(model.length - 4, 9)]);
const at = (/** @type {number} */ share) => Math.round(model.length * share);

/** @typedef {import('../../dist/src/cache/store.js').ModelStore} ModelStore */

/** A store in memory, which holds to the same rules as the browser's. @implements {ModelStore} */
class MemoryStore {
  kind = /** @type {const} */ ('disk');
  /** @type {Map<string, { model: any, bytes: Buffer }>} */
  models = new Map();
  /** @type {Map<string, { info: any, bytes: Buffer }>} */
  parts = new Map();
  /** Bytes that fit. */
  room = Infinity;

  async find(/** @type {string} */ key) {
    const found = this.models.get(key);
    return found && { model: found.model, blob: new Blob([new Uint8Array(found.bytes)]) };
  }
  async part(/** @type {string} */ key) {
    const { parts, models } = this;
    const store = this;
    const held = parts.get(key) ?? { info: undefined, bytes: Buffer.alloc(0) };
    parts.set(key, held);
    return {
      get size() { return held.bytes.length; },
      get info() { return held.info; },
      async *bytes() { yield new Uint8Array(held.bytes); },
      async restart(/** @type {any} */ info) { Object.assign(held, { info, bytes: Buffer.alloc(0) }); },
      async write(/** @type {Uint8Array} */ bytes) {
        if (held.bytes.length + bytes.length > store.room) throw new DOMException('full', 'QuotaExceededError');
        held.bytes = Buffer.concat([held.bytes, bytes]);
      },
      async commit(/** @type {any} */ entry) { parts.delete(key); models.set(key, { model: entry, bytes: held.bytes }); },
      async keep() { if (!held.bytes.length) parts.delete(key); },
      async discard() { parts.delete(key); },
    };
  }
  async list() { return [...this.models.values()].map((entry) => entry.model); }
  async partial() { return []; }
  async delete(/** @type {string} */ key) { return this.models.delete(key) || this.parts.delete(key); }
}

/** @type {Awaited<ReturnType<typeof flakyServer>>} */
let server;
/** @type {MemoryStore} */
let store;
before(async () => void (server = await flakyServer(model)));
after(() => server.close());
beforeEach(() => {
  server.behave({});
  store = new MemoryStore();
});

/**
 * Loads as the engine does. @param {object} [options]
 * @param {string} [options.sha256] @param {AbortSignal} [options.signal] @param {number} [options.stopAt] the page is closed there
 * @param {HeadersInit} [options.headers] @param {string} [options.url] @param {MemoryStore | null} [options.into]
 */
async function load({ sha256, signal, stopAt = Infinity, headers, url = server.url, into = store } = {}) {
  const opened = await openRemote({ url, ...(sha256 && { sha256 }), ...(headers && { init: { headers } }) }, { signal, store: into });
  /** @type {Uint8Array[]} */
  const parts = [];
  let loaded = 0;
  try {
    for await (const chunk of opened.chunks) {
      parts.push(chunk.slice());
      if ((loaded += chunk.length) >= stopAt) break;
    }
  } catch (error) {
    await opened.close(error);
    throw error;
  }
  await opened.close();
  return { bytes: Buffer.concat(parts), report: opened.report, total: opened.total };
}

test('the digest is that of OpenSSL, however the bytes come', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 5000]) {
    const bytes = model.subarray(0, length);
    const hash = new Sha256();
    for (let i = 0; i < length; ) {
      const size = Math.min(length - i, next(90));
      hash.update(bytes.subarray(i, (i += size)));
    }
    assert.equal(hash.hex(), createHash('sha256').update(bytes).digest('hex'), `${length} bytes`);
    assert.equal(hash.length, length);
  }
});

test('a model is fetched once and then comes from the store', async () => {
  const first = await load();
  assert.ok(first.bytes.equals(model));
  assert.deepEqual(first.report, { kept: 'disk', fromCache: false, resumedFrom: 0, sha256: digest });
  const again = await load();
  assert.ok(again.bytes.equals(model));
  assert.deepEqual(again.report, { kept: 'disk', fromCache: true, resumedFrom: 0, sha256: digest });
  assert.equal(server.heard.length, 1);
});

for (const share of [0.01, 0.5, 0.99]) {
  for (const ranges of [true, false]) {
    test(`a connection cut at ${share * 100} % goes on ${ranges ? 'from there' : 'from the start, where the server cannot do better'}`, async () => {
      server.behave({ ranges, cuts: [at(share)] });
      const { bytes, report } = await load();
      assert.ok(bytes.equals(model));
      assert.equal(report.kept, 'disk');
      assert.ok(server.heard[1].range, 'it asked for the rest');
    });

    test(`a page closed at ${share * 100} % ${ranges ? 'resumes with its next visit' : 'starts over without ranges'}`, async () => {
      const { bytes } = await load({ stopAt: at(share) });
      server.behave({ ranges });
      const { bytes: all, report } = await load();
      assert.ok(all.equals(model));
      if (share < 0.99) assert.equal(report.resumedFrom, ranges ? bytes.length : 0);
      assert.equal(store.models.size, 1);
    });
  }
}

test('cut at random bytes, again and again, it arrives whole', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const cut = random(seed);
    server.behave({ cuts: Array.from({ length: 3 }, () => 1 + cut(model.length)), ranges: seed % 3 > 0 });
    assert.ok((await load({ into: new MemoryStore() })).bytes.equals(model), `seed ${seed}`);
  }
});

test('a server that stays broken is a typed failure, and what came is not lost', async () => {
  server.behave({ cuts: Array(20).fill(at(0.5)) });
  await assert.rejects(load(), { code: 'network', retryable: true });
  server.behave({});
  const { report } = await load();
  assert.equal(report.resumedFrom, at(0.5));
});

test('another file under the same address is never joined to the first', async () => {
  await load({ stopAt: at(0.5) });
  server.behave({ etag: '"two"' }, other);
  const { bytes, report } = await load();
  assert.ok(bytes.equals(other));
  assert.equal(report.resumedFrom, 0);

  // Changed in the middle of one load: then nothing can be saved.
  for (const ranges of [true, false]) {
    store = new MemoryStore();
    server.behave({ cuts: [at(0.5)], ranges });
    const loading = load();
    setTimeout(() => server.behave({ etag: '"two"', ranges }, other), 100);
    await assert.rejects(loading, { code: 'integrity-mismatch', retryable: true });
    assert.equal(store.parts.size + store.models.size, 0);
  }
});

test('a server that tells no version is resumed only towards a promised digest', async () => {
  server.behave({ etag: null });
  await load({ stopAt: at(0.5) });
  assert.equal((await load()).report.resumedFrom, 0);
  await load({ stopAt: at(0.5), sha256: digest });
  const { bytes, report } = await load({ sha256: digest });
  assert.ok(bytes.equals(model) && report.resumedFrom > 0);
});

test('a model kept under its digest is found at any address', async () => {
  await load({ sha256: digest });
  assert.equal((await load({ sha256: digest.toUpperCase(), url: `${server.url}?mirror` })).report.fromCache, true);
});

test('the wrong bytes are refused and leave nothing behind', async () => {
  server.behave({}, other);
  await assert.rejects(load({ sha256: digest }), { code: 'integrity-mismatch' });
  assert.equal(store.parts.size + store.models.size, 0);
  server.behave({});
  assert.ok((await load({ sha256: digest })).bytes.equals(model));
});

test('an error page is never kept', async () => {
  for (const [refusal, code] of /** @type {const} */ ([
    [{ status: 404, body: 'no' }, 'http'],
    [{ status: 200, type: 'text/html', body: '<h1>Sign in</h1>' }, 'corrupt-model'],
    [{ status: 200, body: '{"error": "no such model"}' }, 'corrupt-model'],
    [{ status: 200, body: 'GG' }, 'corrupt-model'],
    [{ status: 200, body: '' }, 'corrupt-model'],
  ])) {
    server.behave({ refusals: [refusal] });
    await assert.rejects(load(), { code });
    assert.equal(store.parts.size + store.models.size, 0, code);
    assert.ok((await load({ into: new MemoryStore() })).bytes.equals(model));
  }
});

test('a portal in the middle of a download keeps what had come', async () => {
  await load({ stopAt: at(0.5) });
  server.behave({ refusals: [{ status: 200, type: 'text/html', body: '<h1>Sign in</h1>' }] });
  await assert.rejects(load(), { code: 'corrupt-model' });
  assert.ok((await load()).report.resumedFrom > 0);
});

test('a busy server is asked again once a download has begun', async () => {
  server.behave({ cuts: [at(0.3)] });
  const loading = load();
  setTimeout(() => server.behave({ refusals: [{ status: 503 }] }), 100);
  assert.ok((await loading).bytes.equals(model));
});

test('a part longer than the file, or whole already, is no obstacle', async () => {
  await load({ stopAt: at(0.5) });
  server.behave({}, model.subarray(0, 1000));
  assert.equal((await load()).bytes.length, 1000);

  store = new MemoryStore();
  server.behave({});
  await load({ stopAt: model.length }); // all is there, and the page was closed before the rename
  assert.equal(store.parts.size, 1);
  server.behave({});
  const { bytes, report } = await load();
  assert.ok(bytes.equals(model));
  assert.equal(report.resumedFrom, model.length);
  assert.equal(server.heard.length, 0);
  assert.equal(store.models.size, 1);
});

test('a full store costs the keeping and not the load', async () => {
  store.room = at(0.4);
  const { bytes, report } = await load();
  assert.ok(bytes.equals(model));
  assert.equal(report.kept, 'none');
  assert.match(report.notice ?? '', /too little space/);
  assert.equal(store.parts.size, 0);
});

test('without a store, and without a length, the bytes are the same', async () => {
  server.behave({ hideLength: true });
  const { bytes, report, total } = await load({ into: null });
  assert.ok(bytes.equals(model));
  assert.equal(total, undefined);
  assert.deepEqual([report.kept, report.sha256], ['none', digest]);
});

test('loads at the same time share one download, and one that waits can leave', async () => {
  server.behave({ bytesPerSecond: 1_000_000 });
  const cancel = new AbortController();
  const loads = [load(), load(), load({ signal: cancel.signal })];
  setTimeout(() => cancel.abort(), 50);
  await assert.rejects(loads[2], { code: 'aborted' });
  const [a, b] = await Promise.all(loads.slice(0, 2));
  assert.ok(a.bytes.equals(model) && b.bytes.equals(model));
  assert.equal(server.heard.length, 1);
});

test('what turns out to be no model is not kept', async () => {
  const opened = await openRemote({ url: server.url }, { store });
  for await (const _ of opened.chunks);
  const { FairhandError } = await import('../../dist/src/errors.js');
  await opened.close(new FairhandError('corrupt-model', 'a tensor lies outside the file'));
  assert.equal(store.models.size, 0);
});

test('a cancel stops the transfer in the middle and in a pause, and what came stays', async () => {
  for (const behaviour of [{ bytesPerSecond: 500_000 }, { cuts: Array(9).fill(at(0.2)) }]) {
    store = new MemoryStore();
    server.behave(behaviour);
    const cancel = new AbortController();
    const loading = load({ signal: cancel.signal });
    setTimeout(() => cancel.abort(), 200);
    await assert.rejects(loading, { code: 'aborted', name: 'AbortError' });
    assert.ok((store.parts.values().next().value?.bytes.length ?? 0) > 0);
  }
});

test('a token travels in its header and is in no message', async () => {
  const secret = 'hf_secret';
  await load({ headers: { authorization: `Bearer ${secret}` }, url: `${server.url}?token=${secret}` });
  assert.equal(server.heard[0].authorization, `Bearer ${secret}`);
  assert.ok(!JSON.stringify(await store.list()).includes(secret));

  server.behave({ refusals: [{ status: 401 }] });
  for (const options of [
    { url: `${server.url}?token=${secret}&again` },
    { headers: { authorization: `Bearer ${secret}\n` + '\u2028' } },
    { url: server.url.replace('//', `//user:${secret}@`) },
    { url: `http://127.0.0.1:1/?${secret}` },
    { url: `http://[${secret}` },
  ]) {
    const error = await load(options).then(() => assert.fail('it loaded'), (thrown) => thrown);
    assert.match(error.code, /^(http|network|invalid-argument)$/);
    assert.ok(!`${error.message} ${error.stack} ${JSON.stringify(error.detail)} ${error.cause?.message}`.includes(secret), error.message);
  }
});

test('names in the store tell nothing of an address, and bad digests are refused', async () => {
  assert.match(keyOf({ url: 'https://a.example/m.gguf?token=x' }), /^url[0-9a-f]{64}$/);
  assert.equal(keyOf({ url: 'https://a.example/m.gguf#one' }), keyOf({ url: new URL('https://a.example/m.gguf') }));
  assert.notEqual(keyOf({ url: 'https://a.example/m.gguf' }), keyOf({ url: 'https://a.example/n.gguf' }));
  for (const sha256 of ['', 'abc', `../${digest.slice(3)}`, 7]) {
    await assert.rejects(openRemote({ url: server.url, sha256: /** @type {any} */ (sha256) }, { store }), { code: 'invalid-argument' });
  }
});

test('a rate is of the last seconds', () => {
  const rate = new Rate();
  assert.equal(rate.at(100, 0), null);
  for (let ms = 100; ms <= 10_000; ms += 100) rate.at(1000, ms);
  assert.equal(rate.at(0, 10_000), 10_000);
  assert.equal(new Rate().at(0, 5), null);
});
