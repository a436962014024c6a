// Who waits for a signal: each is told once, nobody who has left, and the signal itself has one listener.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onAbort } from '../../dist/src/abort.js';
import { fakeEngine } from '../../dist/src/testing.js';

test('each that waits is told once, and who has left is not', () => {
  const cancel = new AbortController();
  /** @type {string[]} */
  const told = [];
  const say = (/** @type {string} */ name) => () => void told.push(name);
  const both = say('twice');
  onAbort(cancel.signal, say('a'));
  const leave = onAbort(cancel.signal, say('gone'));
  onAbort(cancel.signal, both);
  onAbort(cancel.signal, both);
  leave();
  leave();
  cancel.abort();
  cancel.abort();
  assert.deepEqual(told, ['a', 'twice', 'twice']);
});

test('after the last has left, those who come are told all the same', () => {
  const cancel = new AbortController();
  let told = 0;
  const leave = onAbort(cancel.signal, () => assert.fail());
  leave();
  onAbort(cancel.signal, () => told++);
  leave(); // of a time that is over
  cancel.abort();
  assert.equal(told, 1);
  assert.equal(typeof onAbort(undefined, () => {}), 'function');
});

test('a hundred calls with one signal are no leak', async () => {
  /** @type {Error[]} */
  const warnings = [];
  const hear = (/** @type {Error} */ warning) => warnings.push(warning);
  process.on('warning', hear);
  const engine = fakeEngine({ delayMs: 20 });
  const cancel = new AbortController();
  const calls = Array.from({ length: 100 }, () => engine.tagContent('a note', { signal: cancel.signal }).then(() => 'none', (error) => error.code));
  await new Promise((resolve) => setTimeout(resolve, 50));
  cancel.abort();
  const codes = await Promise.all(calls);
  assert.ok(codes.includes('aborted'));
  await new Promise((resolve) => setTimeout(resolve, 10)); // warnings come a turn later
  process.off('warning', hear);
  assert.deepEqual(warnings, []);
});
