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

test("a signal is told from the work's own time limit by its code, and has the DOM's name", () => {
  const about = (/** @type {AbortSignal} */ signal) => [abortError(signal).code, abortError(signal).name];
  assert.deepEqual(about(AbortSignal.abort()), ['aborted', 'AbortError']);
  assert.deepEqual(about(AbortSignal.abort('a reason of the caller')), ['aborted', 'AbortError']);
  assert.deepEqual(about(AbortSignal.abort(new DOMException('', 'TimeoutError'))), ['aborted', 'TimeoutError']);
  const own = new FairhandError('timeout', '');
  assert.deepEqual([own.code, own.name], ['timeout', 'TimeoutError']);
});
