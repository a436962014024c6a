import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abortError, asFairhandError, FairhandError, fromWire, toWire } from '../../dist/src/errors.js';

test('names agree with the DOM where it has one', () => {
  const name = (/** @type {import('../../dist/src/errors.js').ErrorCode} */ code) => new FairhandError(code, '').name;
  assert.deepEqual(
    [name('aborted'), name('timeout'), name('network'), name('corrupt-model')],
    ['AbortError', 'TimeoutError', 'NetworkError', 'FairhandError'],
  );
});

test('an error crosses threads whole', () => {
  const error = new FairhandError('context-overflow', 'too long', { retryable: true, detail: { requested: 9, available: 4 } });
  const back = fromWire(structuredClone(toWire(error)));
  assert.ok(back instanceof FairhandError);
  assert.deepEqual(toWire(back), toWire(error));
  assert.equal(back.name, 'QuotaExceededError');
});

test('what the wasm module throws keeps its code, anything else is internal', () => {
  const thrown = Object.assign(new Error('line 3'), { code: 'invalid-grammar', detail: { line: 3 } });
  const { code, detail } = asFairhandError(thrown);
  assert.deepEqual({ code, detail }, { code: 'invalid-grammar', detail: { line: 3 } });
  assert.equal(asFairhandError('what').code, 'internal');
  assert.equal(asFairhandError(null).code, 'internal');
});

test("a signal's time limit is told from a cancel", () => {
  assert.equal(abortError(AbortSignal.abort()).code, 'aborted');
  assert.equal(abortError(AbortSignal.abort('a reason of the caller')).code, 'aborted');
  assert.equal(abortError(AbortSignal.abort(new DOMException('', 'TimeoutError'))).code, 'timeout');
});
