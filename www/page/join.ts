// Several transcripts as one: their texts follow each other, and so do their times.
import type { Transcript } from '../src/index.js';

const GAP = '\n\n';

export function joined(parts: readonly Transcript[]): Transcript {
  const whole: Transcript = { text: '', segments: [], notices: [] };
  let time = 0;
  for (const { text, segments, notices } of parts) {
    if (whole.text) whole.text += GAP;
    const at = whole.text.length;
    const later = (seconds: number | null) => (seconds === null ? null : seconds + time);
    const move = <T extends { start: number; end: number; startTime: number | null; endTime: number | null }>(range: T): T => ({
      ...range,
      start: range.start + at,
      end: range.end + at,
      startTime: later(range.startTime),
      endTime: later(range.endTime),
    });
    for (const segment of segments) whole.segments.push({ ...move(segment), ...(segment.words && { words: segment.words.map(move) }) });
    whole.text += text;
    whole.notices.push(...notices);
    time = whole.segments.reduce((latest, { endTime }) => Math.max(latest, endTime ?? 0), time);
  }
  return whole;
}
