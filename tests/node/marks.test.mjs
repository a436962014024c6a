import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, describe, typeOf } from '../../dist/page/marks.js';
import { random } from './random.mjs';

/** @returns {import('../../dist/src/types.js').Edit} */
const edit = (/** @type {number} */ start, /** @type {string} */ original, /** @type {string} */ replacement, kind = 'filler') => ({
  start, end: start + original.length, original, replacement, kind, confidence: 1, by: 'rules',
});
const textOf = (/** @type {{ text: string }[]} */ pieces) => pieces.map(({ text }) => text).join('');

test('marks stand where the edits are', () => {
  const edits = [edit(0, 'um ', ''), edit(3, 'h', 'H', 'case'), edit(8, '', '.', 'mark')];
  assert.deepEqual(cut('um hello', edits), {
    raw: [{ text: 'um ', edit: 0 }, { text: 'h', edit: 1 }, { text: 'ello' }],
    clean: [{ text: '', edit: 0 }, { text: 'H', edit: 1 }, { text: 'ello' }, { text: '.', edit: 2 }],
  });
});

test('an edit that was undone shows what was there before', () => {
  const edits = [edit(0, 'um ', ''), edit(3, 'h', 'H', 'case'), edit(8, '', '.', 'mark')];
  assert.equal(textOf(cut('um hello', edits, (index) => index !== 1).clean), 'um Hello');
  assert.equal(textOf(cut('um hello', edits, () => true).clean), 'um hello');
});

test('for random edits the pieces spell both texts', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const next = random(seed);
    const raw = Array.from({ length: 60 }, () => 'ab \n😀é'[next(7)]).join('');
    const edits = [];
    let expected = '';
    let at = 0;
    while (at < raw.length) {
      const start = Math.min(raw.length, at + next(8));
      const original = raw.slice(start, start + next(5));
      const replacement = 'xyz'.slice(0, next(4));
      expected += raw.slice(at, start) + replacement;
      edits.push(edit(start, original, replacement));
      at = start + original.length + (original ? 0 : 1);
      if (!original) expected += raw.slice(start, at);
    }
    const marked = cut(raw, edits);
    assert.equal(textOf(marked.raw), raw, `seed ${seed}`);
    assert.equal(textOf(marked.clean), expected, `seed ${seed}`);
  }
});

test('edits of another text are left out', () => {
  assert.deepEqual(cut('ab', [edit(1, 'xyz', ''), edit(-1, 'a', '')]).clean, [{ text: 'ab' }]);
});

test('an edit is told in words, white space too', () => {
  assert.deepEqual(describe(edit(0, 'um ', '')), { kind: 'Filler', change: 'removed “um”' });
  assert.deepEqual(describe(edit(0, '', '\n', 'layout')), { kind: 'Spacing', change: 'added a line break' });
  assert.deepEqual(describe(edit(0, 'two', '2', 'a new kind')), { kind: 'a new kind', change: '“two” → “2”' });
  assert.equal(typeOf(edit(0, 'two', '2')), 'replace');
});
