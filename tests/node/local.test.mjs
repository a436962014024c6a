// The package in Node, without a browser and without a model.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load, loadCleaner } from '../../dist/src/local.js';

test('the cleaner works in Node from the files of the package', async () => {
  const cleaner = await loadCleaner();
  assert.equal(cleaner.info.worker, false);
  assert.equal(cleaner.info.model, undefined);
  const { text, provenance, usage } = await cleaner.cleanup('um I think I think it works');
  assert.equal(text, 'I think it works.');
  assert.equal(provenance.model, undefined);
  assert.ok(usage.totalMs >= 0);
  await assert.rejects(cleaner.cleanup('um', { mode: 'rewrite' }), { code: 'invalid-argument' });
  await cleaner.dispose();
  await assert.rejects(cleaner.cleanup('um'), { code: 'disposed' });
});

test('every transcript of the samples reads as the same words, with its times', async () => {
  const cleaner = await loadCleaner();
  for (const name of ['note.txt', 'note.srt', 'note.vtt', 'note.whisper.json']) {
    const content = readFileSync(new URL(`../data/transcripts/${name}`, import.meta.url), 'utf8');
    const { text, segments } = await cleaner.readTranscript(content, name);
    const words = text.replace('& ', '').split(/\s+/).join(' ').trim();
    assert.equal(words, 'um I have to call the the dentist tomorrow and uh ask about the appointment for Tuesday', name);
    if (name === 'note.txt') continue;
    assert.deepEqual(segments.map(({ startTime, endTime }) => [startTime, endTime]), [[0, 4.1], [4.6, 9]], name);
    assert.match(text.slice(segments[1].start, segments[1].end), /^and uh .* Tuesday$/, name);
  }
});

test('a long text lets the event loop turn, and can be cancelled', async () => {
  const cleaner = await loadCleaner();
  const cancel = new AbortController();
  const long = 'um so I I think we should uh go there on Monday morning '.repeat(20_000);
  let turns = 0;
  const timer = setInterval(() => ++turns === 3 && cancel.abort(), 1);
  await assert.rejects(cleaner.cleanup(long, { signal: cancel.signal }), { code: 'aborted' });
  clearInterval(timer);
  assert.equal((await cleaner.cleanup('um yes')).text, 'Yes.');
});

test('what is not a model is refused', async () => {
  await assert.rejects(load(new Blob(['GGUF\u0003\0\0\0 and then nothing of use'])), { code: 'corrupt-model' });
  await assert.rejects(load(new Uint8Array(100)), { code: 'corrupt-model' });
});

test('without workers the main entry says what does without, before anything else', async () => {
  const main = await import('../../dist/src/index.js');
  for (const call of [main.loadCleaner(), main.load('./model.gguf'), main.load('https://models.example/m.gguf')]) {
    await assert.rejects(call, { code: 'unsupported-environment', message: /'fairhand\/local' does without one/ });
  }
});

test('a transcript of no type that is read is refused in words', async () => {
  const cleaner = await loadCleaner();
  for (const file of [new Blob(['a']), 7, null, ['a']]) {
    await assert.rejects(cleaner.readTranscript(/** @type {any} */ (file)), { code: 'invalid-argument', message: /string, an ArrayBuffer or a Uint8Array/ });
  }
});
