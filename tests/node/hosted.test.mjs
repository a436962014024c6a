// What a host puts around its calls: a recorder, a cache of answers, readers of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeEngine, FairhandError } from '../../dist/src/testing.js';

/** @typedef {import('../../dist/src/testing.js').CallRecord} CallRecord */

/** A cache in memory. */
function memory() {
  /** @type {Map<string, string>} */
  const kept = new Map();
  const nameOf = (/** @type {import('../../dist/src/testing.js').AnswerKey} */ { fingerprint, input }) => `${fingerprint}/${input}`;
  return {
    kept,
    /** @type {import('../../dist/src/testing.js').AnswerCache} */
    answers: {
      get: (key) => kept.get(nameOf(key)),
      set: async (key, answer) => void kept.set(nameOf(key), answer),
    },
  };
}

test('a recorder hears of every call with prompt, answer, times and names', async () => {
  /** @type {CallRecord[]} */
  const records = [];
  const engine = fakeEngine({ complete: ['so ', 'it is'], delayMs: 5 }, { recorder: (record) => void records.push(record) });
  await engine.registerProfile({ name: 'short', maxTokens: 9 });
  const { text, provenance } = await engine.complete({ prompt: 'Is it?', profile: 'short', session: 's-1', seed: 4 });
  await engine.tagContent('a note');
  assert.equal(records.length, 2);
  const [{ callId, startedAt, totalMs, attempts, usage, ...named }, second] = records;
  assert.deepEqual(named, { task: 'complete', profile: 'short', session: 's-1', model: 'script', provenance });
  assert.ok(callId && callId !== second.callId && totalMs >= 4 && Math.abs(Date.now() - startedAt) < 60_000);
  assert.equal(attempts.length, 1);
  assert.deepEqual([attempts[0].prompt, attempts[0].response, attempts[0].seed], [{ text: 'Is it?' }, text, 4]);
  assert.equal(usage?.completionTokens, 2);
  assert.equal(second.task, 'tagContent');
});

test('a failure is recorded with what there was of it, and an exhausted rejection with its raw answer', async () => {
  /** @type {CallRecord[]} */
  const records = [];
  const recorder = (/** @type {CallRecord} */ record) => void records.push(record);
  const broken = fakeEngine({ complete: new FairhandError('out-of-memory', 'no room') }, { recorder });
  await assert.rejects(async () => broken.complete({ prompt: 'Is it?' }), { code: 'out-of-memory' });
  assert.deepEqual(records[0].error, { code: 'out-of-memory', message: 'no room' });
  assert.equal(records[0].attempts.length, 1);
  assert.equal(records[0].provenance, undefined);

  const decode = () => {
    throw new Error('mine');
  };
  const engine = fakeEngine({ complete: 'half an answer' }, { recorder });
  await assert.rejects(async () => engine.complete({ prompt: 'Is it?', retries: 1, seed: 7, decode }), (/** @type {any} */ error) => {
    assert.deepEqual([error.code, error.detail.raw, error.detail.attempts], ['invalid-structured-output', 'half an answer', 2]);
    return true;
  });
  const tries = records.slice(1);
  assert.deepEqual(tries.map(({ error, attempts }) => [error?.code, attempts[0].response, attempts[0].seed]), [
    ['invalid-structured-output', 'half an answer', 7],
    ['invalid-structured-output', 'half an answer', 8],
  ]);
});

test('a recorder that fails ends a good call, and never hides the error of a bad one', async () => {
  for (const recorder of [() => { throw new Error('disk full'); }, () => Promise.reject(new Error('disk full'))]) {
    const good = fakeEngine({ complete: 'yes' }, { recorder });
    await assert.rejects(async () => good.complete({ prompt: 'a' }), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.cause.message], ['callback-failed', 'disk full']);
      return true;
    });
    const bad = fakeEngine({ complete: new FairhandError('corrupt-model', 'broken') }, { recorder });
    await assert.rejects(async () => bad.complete({ prompt: 'a' }), { code: 'corrupt-model' });
    await assert.rejects(async () => good.complete({ prompt: 'a', signal: AbortSignal.abort() }), { code: 'aborted' });
  }
});

test('the same call has the stored answer, which says so', async () => {
  let asked = 0;
  const { answers, kept } = memory();
  const engine = fakeEngine({ complete: () => `answer ${++asked}` }, { answers });
  const first = await engine.complete({ prompt: 'Is it?', session: 'one' });
  let streamed = '';
  const again = await engine.complete({ prompt: 'Is it?', session: 'two', onToken: (text) => (streamed += text) });
  assert.equal(asked, 1);
  assert.deepEqual([again.text, streamed, again.usage.completionTokens], [first.text, first.text, 0]);
  assert.deepEqual([first.provenance.cached, again.provenance.cached], [undefined, true]);
  assert.equal(again.provenance.session, 'two', 'the series is the call’s own');
  assert.deepEqual({ ...again.provenance, cached: undefined, session: 'one' }, { ...first.provenance, cached: undefined });
  for (const other of [{ prompt: 'Is it not?' }, { prompt: 'Is it?', seed: 1 }, { prompt: 'Is it?', maxTokens: 9 }, { prompt: 'Is it?', stop: ['x'] }]) {
    assert.equal((await engine.complete(other)).provenance.cached, undefined, JSON.stringify(other));
  }
  assert.equal(kept.size, 5);
  for (const key of kept.keys()) assert.match(key, /^[0-9a-f]{16}\/[0-9a-f]{64}$/);
});

test('whatever changes the fingerprint makes stored answers old', async () => {
  let asked = 0;
  const engine = fakeEngine({ complete: () => `answer ${++asked}` }, { answers: memory().answers });
  const ask = () => engine.complete({ prompt: 'Is it?' });
  await ask();
  await engine.registerProfile({ name: 'a' });
  await ask();
  await engine.registerPrompt({ id: 'p', version: 1, messages: [{ role: 'user', content: 'x' }] });
  await ask();
  await ask();
  assert.equal(asked, 3);
});

test('a cache that fails is passed by, and nothing unusable is stored', async () => {
  const fails = () => {
    throw new Error('no disk');
  };
  for (const answers of [
    { get: fails, set: fails },
    { get: () => Promise.reject(new Error('no disk')), set: () => Promise.reject(new Error('no disk')) },
    { get: () => 'no JSON', set() {} },
    { get: () => 'null', set() {} },
    { get: () => '{"text":"no provenance"}', set() {} },
  ]) {
    const engine = fakeEngine({ complete: 'worked out' }, { answers });
    const { text, provenance } = await engine.complete({ prompt: 'a' });
    assert.deepEqual([text, provenance.cached], ['worked out', undefined]);
  }
  const { answers, kept } = memory();
  const engine = fakeEngine({ complete: 'x' }, { answers });
  await assert.rejects(async () => engine.complete({ prompt: 'a', decode: () => { throw new Error('mine'); } }));
  await assert.rejects(async () => engine.complete({ prompt: 'a', signal: AbortSignal.abort() }), { code: 'aborted' });
  assert.equal(kept.size, 0);
});

test('an answer is read by the caller as often as it takes', async () => {
  let asked = 0;
  const engine = fakeEngine({ complete: () => (++asked < 3 ? 'no number' : '7') });
  const decode = (/** @type {string} */ raw) => {
    if (!/^\d+$/.test(raw)) throw new Error('mine');
    return Number(raw);
  };
  const { value, attempts, text } = await engine.complete({ prompt: 'a', retries: 4, decode });
  assert.deepEqual([value, attempts, text], [7, 3, '7']);
});

test('models of profiles are loaded once, when they are prepared, and an unknown name loads none', async () => {
  const engine = fakeEngine();
  await engine.registerProfile({ name: 'a', model: new Blob(['x']) });
  await engine.registerProfile({ name: 'b', model: 'https://models.example/m.gguf?key=sk-planted' });
  await engine.prepare(['a', 'b', 'a']);
  await engine.prepare([]);
  await assert.rejects(engine.prepare(['a', 'nobody']), { code: 'invalid-argument' });
});

test('defaults of an engine are checked like those of a call', () => {
  for (const bad of [{ seed: -1 }, { concurrency: 0 }, { concurrency: 1.5 }, { recorder: 7 }, { answers: {} }, { reasoning: 7 }]) {
    assert.throws(() => fakeEngine({}, /** @type {any} */ (bad)), { code: 'invalid-argument' }, JSON.stringify(bad));
  }
});

test('with room for two, two are at work', async () => {
  const engine = fakeEngine({ delayMs: 60 }, { concurrency: 2 });
  const began = performance.now();
  const results = await Promise.all([engine.tagContent('a'), engine.tagContent('b'), engine.tagContent('c')]);
  assert.ok(performance.now() - began < 170);
  assert.ok(results[1].usage.queueMs < 30 && results[2].usage.queueMs > 30);
});
