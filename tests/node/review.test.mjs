import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flip, isUndone, isWeighed, review, textOf } from '../../dist/page/review.js';
import { random } from './random.mjs';

/** @typedef {import('../../dist/src/types.js').Edit} Edit */

/** @returns {Edit} */
const edit = (/** @type {number} */ start, /** @type {string} */ original, /** @type {string} */ replacement, by = 'rules') => ({
  start, end: start + original.length, original, replacement, kind: 'mark', confidence: 1, by,
});
const result = (/** @type {Edit[]} */ edits, model = '') =>
  /** @type {import('../../dist/src/types.js').CleanupResult} */ (
    /** @type {unknown} */ ({ text: '', edits, provenance: { provider: 'rules', ...(model && { model }) } })
  );

test('what the reader undid stays undone while the text goes on, before it and after it', () => {
  const before = review('um a um b', result([edit(0, 'um ', ''), edit(5, 'um ', '')]));
  flip(before, 0);
  const longer = review('um a um b c', result([edit(0, 'um ', ''), edit(5, 'um ', ''), edit(11, '', '.')]), before);
  assert.equal(textOf(longer), 'um a b c.');
  const shifted = review('so um a um b c', result([edit(3, 'um ', ''), edit(8, 'um ', ''), edit(14, '', '.')]), longer);
  assert.equal(textOf(shifted), 'so um a b c.');
  assert.equal(textOf(review('x um y', result([edit(2, 'um ', '')]), before)), 'x y', 'another text');
});

test('what the model chose stays up to the last edit on which rules agree', () => {
  const model = review('yes we can go on', result([edit(0, 'y', 'Y'), edit(3, '', ',', 'model'), edit(10, '', '.'), edit(16, '', '.')], 'M'));
  const typed = review('yes we can go on and', result([edit(0, 'y', 'Y'), edit(10, '', '.'), edit(20, '', '.')]), model);
  assert.equal(textOf(typed), 'Yes, we can. go on and.');
  assert.ok(isWeighed(typed));
  const other = review('no we can go on', result([edit(0, 'n', 'N'), edit(15, '', '.')]), model);
  assert.equal(textOf(other), 'No we can go on.');
  assert.ok(!isWeighed(other));
});

test('for random texts and edits the result is sound, and without a word of the model it is the rules\u2019 own', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const next = random(seed);
    const text = () => Array.from({ length: 12 }, () => 'ab '[next(3)]).join('');
    const some = (/** @type {string} */ raw, /** @type {string} */ by) => {
      const edits = [];
      for (let at = next(3); at < raw.length; at += 1 + next(4)) edits.push(edit(at, raw.slice(at, at + 1), next(2) ? '' : 'X', next(2) ? by : 'rules'));
      return edits;
    };
    const [head, middle, tail] = [text(), text(), text()];
    const old = head + tail;
    const raw = head + middle + tail;
    const by = next(2) ? 'model' : 'rules';
    const before = review(old, result(some(old, by), by === 'model' ? 'M' : ''));
    before.result.edits.forEach((_, index) => next(3) || flip(before, index));
    const fresh = some(raw, 'rules');
    const after = review(raw, result(fresh), before);
    let at = 0;
    for (const { start, end, original } of after.result.edits) {
      assert.ok(start >= at && raw.slice(start, end) === original, `seed ${seed}`);
      at = end;
    }
    if (by === 'rules') assert.deepEqual(after.result.edits, fresh);
    assert.equal(after.result.text, textOf(review(raw, after.result)));
    for (const index of after.flipped) assert.ok(isUndone(after, index));
  }
});
