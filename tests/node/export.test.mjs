// Every format of a cleaned transcript reads back as the same words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanedRange, exported, FORMATS } from '../../dist/src/export.js';
import { loadCleaner } from '../../dist/src/local.js';
import { random } from './random.mjs';

const words = (/** @type {string} */ text) => text.split(/\s+/).filter(Boolean).join(' ');

test('the ranges of a text, each cleaned, join to the whole cleaned text', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    const raw = Array.from({ length: 40 }, () => 'ab '[next(3)]).join('');
    /** @type {any[]} */
    const edits = [];
    let at = 0;
    let text = '';
    while (at < raw.length) {
      const start = Math.min(raw.length, at + next(6));
      const end = Math.min(raw.length, start + next(6));
      const replacement = 'xy'.slice(0, next(3));
      text += raw.slice(at, start) + replacement;
      edits.push({ start, end, original: raw.slice(start, end), replacement });
      at = Math.max(end, start + 1);
      text += raw.slice(end, at);
    }
    text += raw.slice(at);
    const borders = [0, ...Array.from({ length: 3 }, () => next(raw.length + 1)).sort((a, b) => a - b), raw.length];
    const joined = borders.slice(1).map((end, i) => cleanedRange(raw, edits, borders[i], end)).join('');
    assert.equal(joined, text, `seed ${seed}: ${JSON.stringify({ raw, edits, borders })}`);
  }
});

test('a transcript written as srt, vtt or json is read back with its times and words', async () => {
  const cleaner = await loadCleaner();
  const source = 'WEBVTT\n\n00:01.000 --> 00:03.500\n<v Ada>um so I I will call Tom &amp; Eve\n\n00:04.000 --> 01:00:05.250\n<v Tom>okay uh <i>yes</i> period\n';
  const transcript = await cleaner.readTranscript(source, 'a.vtt');
  const { text, edits } = await cleaner.cleanup(transcript.text);
  for (const format of /** @type {const} */ (['srt', 'vtt'])) {
    const back = await cleaner.readTranscript(exported(format, { transcript, edits, text }), `a.${format}`);
    assert.deepEqual(back.segments.map(({ startTime, endTime }) => [startTime, endTime]), [[1, 3.5], [4, 3605.25]], format);
    if (format === 'vtt') assert.equal(words(back.text), words(text));
  }
  const content = JSON.parse(exported('json', { transcript, edits, text, tasks: [{ text: 'Call Tom', done: true }] }));
  assert.deepEqual([content.text, content.raw, content.tasks], [text, transcript.text, [{ text: 'Call Tom', done: true }]]);
});

test('a text without times gets some, and is never empty of its words', () => {
  const transcript = { text: 'one two. three', segments: [], notices: [] };
  for (const format of FORMATS) assert.match(exported(format, { transcript, edits: [], text: transcript.text }), /three/);
  const srt = exported('srt', { transcript, edits: [], text: transcript.text });
  assert.match(srt, /^1\n00:00:00,000 --> 00:00:01,000\none two\.\n\n2\n00:00:01,000 --> /);
});

test('Markdown keeps what was said as text, and tasks as boxes', () => {
  const text = '# not a title\n1. no list *really* <b>';
  const transcript = { text, segments: [], notices: [] };
  const got = exported('md', { transcript, edits: [], text, tasks: [{ text: 'Call\nTom', done: true }, { text: 'Write' }], tag: { topic: 'plans', intent: 'planning' }, title: 'note' });
  assert.equal(got, '# note\n\n*plans · planning*\n\n\\# not a title\n1\\. no list \\*really\\* \\<b\\>\n\n## Tasks\n\n- [x] Call Tom\n- [ ] Write\n');
});
