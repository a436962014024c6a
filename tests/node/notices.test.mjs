// What is told of how a transcript was read, and that nothing of a faulty one is lost on its way out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exported } from '../../dist/src/export.js';
import { told } from '../../dist/src/notices.js';

test('a sentence a kind, with the lines, and nothing of what is left out as a matter of course', () => {
  assert.deepEqual(told([]), []);
  assert.deepEqual(told([{ kind: 'comment', line: 3 }, { kind: 'interim' }, { kind: 'a new one', line: 1 }]), []);
  const odd = [2, 9, 11, 40, 41].map((line) => ({ kind: 'unreadableTime', line }));
  assert.deepEqual(told([...odd, { kind: 'legacyEncoding' }, { kind: 'legacyEncoding' }]), [
    'A time at lines 2, 9, 11 and 2 more could not be read and is left open.',
    'The file is no Unicode; it was read as windows-1252. If letters are wrong, save it as UTF-8.',
  ]);
  assert.deepEqual(told([{ kind: 'outsideCue', line: 7 }]), ['Text at line 7 belongs to no cue; it is kept, without times.']);
});

test('a segment whose time is open is exported in the gap that its neighbours leave', () => {
  const said = /** @type {const} */ ([['one', 1, 2], ['two', null, null], ['three', null, 9], ['four', 9, null], ['five', 12, 13], ['six seven eight nine ten', 13, null]]);
  let text = '';
  const segments = said.map(([words, startTime, endTime]) => {
    const start = text.length;
    text += `${words}\n`;
    return { start, end: start + words.length, startTime, endTime, speaker: null };
  });
  const srt = exported('srt', { transcript: { text, segments, notices: [] }, edits: [], text });
  const cues = srt.trim().split('\n\n').map((cue) => cue.split('\n').slice(1).join(' ').replaceAll('00:00:', ''));
  assert.deepEqual(cues, [
    '01,000 --> 02,000 one',
    '02,000 --> 05,500 two',
    '05,500 --> 09,000 three',
    '09,000 --> 12,000 four',
    '12,000 --> 13,000 five',
    '13,000 --> 15,000 six seven eight nine ten',
  ]);
});
