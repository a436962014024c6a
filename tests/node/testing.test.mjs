// The stand-in engine: held to what every engine promises, then to its own script.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeEngine, FairhandError } from '../../dist/src/testing.js';
import { codeOf, contract } from '../support/contract.mjs';

describe('the contract', () => {
  const engine = fakeEngine({ complete: ['Once ', 'more ', 'with ', 'feeling'], cleanup: (text) => text.replaceAll('um ', '') });
  for (const [name, check] of contract) {
    test(name, async () => {
      for (const [got, wanted] of await check({ engine, codeOf })) assert.deepEqual(got, wanted);
    });
  }
});

test('answers come from the script: values, functions, errors', async () => {
  const engine = fakeEngine({
    cleanup: 'Hello.',
    extractTasks: (text) => [`Do ${text}`],
    tagContent: { topic: 'garden' },
    decomposeTask: new FairhandError('invalid-structured-output', 'lost its way'),
  });
  assert.equal((await engine.cleanup('um hello')).text, 'Hello.');
  assert.deepEqual((await engine.extractTasks('it')).tasks, [{ text: 'Do it', by: 'script' }]);
  assert.deepEqual(await engine.tagContent('x').then(({ topic, intent }) => [topic, intent]), ['garden', 'capture']);
  await assert.rejects(engine.decomposeTask('x'), { code: 'invalid-structured-output' });
  assert.equal((await engine.readTranscript('plain')).text, 'plain');
});

test('a delay can be cut short by a time limit and by a cancel', async () => {
  const engine = fakeEngine({ delayMs: 5000 });
  await assert.rejects(engine.tagContent('x', { timeoutMs: 20 }), { code: 'timeout' });
  await assert.rejects(engine.tagContent('x', { signal: AbortSignal.timeout(20) }), { code: 'aborted', name: 'TimeoutError' });
});

test('a completion that cannot begin rejects and does not throw, awaited or iterated', async () => {
  const any = /** @type {any} */ (fakeEngine());
  for (const request of [undefined, null, {}, { prompt: 'a', sampling: { topP: 2 } }, { prompt: 'a', tempo: 1 }]) {
    const completion = any.complete(request);
    await assert.rejects(Promise.resolve(completion), { code: 'invalid-argument' });
    await assert.rejects(async () => {
      for await (const _ of completion) assert.fail();
    }, { code: 'invalid-argument' });
  }
});
