// The reference is made from the types: a declaration is taken whole, with what is said about it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { declarations, reference } from '../../scripts/api.mjs';

test('declarations are cut where they end', () => {
  const text = '/** A {@link B}.\n * @throws FairhandError */\nexport interface A {\n  /** A brace: } */\n  a: { b: string };\n}\nexport type B = { x: 1 } | 2;\nexport declare function f(a: A): B;\n';
  assert.deepEqual(declarations(text), [
    { heading: 'interface `A`', comment: 'A `B`.\nRejects with FairhandError', code: 'export interface A {\n  /** A brace: } */\n  a: { b: string };\n}' },
    { heading: 'type `B`', comment: '', code: 'export type B = { x: 1 } | 2;' },
    { heading: 'function `f`', comment: '', code: 'export declare function f(a: A): B;' },
  ]);
});

test('the reference holds every method of an engine and every code', () => {
  const text = reference((name) => readFileSync(new URL(`../../pkg/${name}`, import.meta.url), 'utf8'));
  for (const name of ['cleanup', 'extractTasks', 'decomposeTask', 'tagContent', 'complete', 'countTokens', 'readTranscript', 'dispose', 'fakeEngine', 'integrity-mismatch']) {
    assert.ok(text.includes(name), name);
  }
  assert.doesNotMatch(text, /toWire|isTrap/);
});
