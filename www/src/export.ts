// A cleaned transcript as a file: plain text, Markdown, SubRip, WebVTT, JSON. Pure; the page and the command line share it.
import type { CleanupResult, Edit, TagResult, TaskItem, Transcript } from './types.js';

export const FORMATS = ['txt', 'md', 'srt', 'vtt', 'json'] as const;
export type Format = (typeof FORMATS)[number];

/** Something to do. */
type Thing = Pick<TaskItem, 'text'> & { done?: boolean };

export interface Exportable {
  transcript: Transcript;
  /** Those in force: what was undone is left out. */
  edits: readonly Edit[];
  /** The raw text with these edits applied. */
  text: string;
  result?: CleanupResult;
  title?: string;
  tasks?: readonly (Thing & { steps?: readonly Thing[] })[] | undefined;
  tag?: Pick<TagResult, 'topic' | 'intent'> | undefined;
}

export function exported(format: Format, content: Exportable): string {
  switch (format) {
    case 'txt':
      return withLineEnd(content.text);
    case 'md':
      return markdown(content);
    case 'srt':
      return subRip(cues(content));
    case 'vtt':
      return webVtt(cues(content));
    case 'json':
      return json(content);
  }
}

/** A range of the raw text, as it reads after the edits. An edit over a border counts for the side where it begins. */
export function cleanedRange(raw: string, edits: readonly Edit[], start: number, end: number): string {
  let text = '';
  let at = start;
  for (const edit of edits) {
    if (edit.start >= end && !(edit.start === edit.end && edit.start === end)) break;
    if (edit.start < start || (edit.start === edit.end && edit.start === start && start > 0)) {
      at = Math.max(at, Math.min(edit.end, end));
      continue;
    }
    text += raw.slice(at, edit.start) + edit.replacement;
    at = edit.end;
  }
  return text + raw.slice(at, Math.max(at, end));
}

interface Cue {
  start: number;
  end: number;
  speaker: string | null;
  text: string;
}

// Without times of its own a text is given those of slow speech, so that a player shows each line long enough.
const SECONDS_PER_WORD = 0.4;
const LEAST_SECONDS = 1;

function cues({ transcript, edits, text }: Exportable): Cue[] {
  const { segments } = transcript;
  if (segments.some(({ startTime, endTime }) => startTime !== null || endTime !== null)) {
    const times = filled(transcript);
    return segments
      .map(({ start, end, speaker }, i) => ({
        start: times[i]!.start,
        end: Math.max(times[i]!.start, times[i]!.end),
        speaker,
        text: cleanedRange(transcript.text, edits, start, end).trim(),
      }))
      .filter((cue) => cue.text);
  }
  let at = 0;
  const lines = text.split(/\n+|(?<=[.!?])\s+/).map((line) => line.trim()).filter(Boolean);
  return lines.map((line) => {
    const start = at;
    at += secondsOf(line);
    return { start, end: at, speaker: null, text: line };
  });
}

/** How long it takes to say a text. */
function secondsOf(text: string): number {
  return Math.max(LEAST_SECONDS, text.trim().split(/\s+/).length * SECONDS_PER_WORD);
}

/** The times of all segments. Where some in a row are open they share what is left between their neighbours. */
function filled({ text, segments }: Transcript): { start: number; end: number }[] {
  const times = segments.flatMap(({ startTime, endTime }) => [startTime, endTime]);
  const spoken = (from: number, to: number) => segments.slice(from, to).reduce((sum, { start, end }) => sum + secondsOf(text.slice(start, end)), 0);
  for (let from = times.indexOf(null); from >= 0; from = times.indexOf(null, from)) {
    let to = from;
    while (times[to] === null) to++;
    const length = spoken(from >> 1, (to + 1) >> 1);
    const before = times[from - 1] ?? Math.max(0, (times[to] ?? length) - length);
    const after = times[to] ?? before + length;
    // From the start of a segment to its end is a step onwards, from there to the next start is none.
    const steps = (at: number) => ((at + 1) >> 1) - (from >> 1);
    for (let at = from; at < to; at++) times[at] = before + ((after - before) * steps(at)) / steps(to);
  }
  return segments.map((_, i) => ({ start: times[2 * i] ?? 0, end: times[2 * i + 1] ?? 0 }));
}

// https://www.matroska.org/technical/subtitles.html#srt-subtitles
function subRip(list: readonly Cue[]): string {
  return list
    .map(({ start, end, speaker, text }, i) => `${i + 1}\n${time(start, ',')} --> ${time(end, ',')}\n${speaker === null ? '' : `${speaker}: `}${block(text)}\n`)
    .join('\n');
}

// https://www.w3.org/TR/webvtt1/
function webVtt(list: readonly Cue[]): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const voice = (speaker: string | null) => (speaker === null ? '' : `<v ${escaped(speaker.replaceAll('\n', ' '))}>`);
  const body = list.map(({ start, end, speaker, text }) => `${time(start, '.')} --> ${time(end, '.')}\n${voice(speaker)}${escaped(block(text))}\n`);
  return ['WEBVTT\n', ...body].join('\n');
}

/** A blank line would end the cue. */
function block(text: string): string {
  return text.replace(/\n\s*\n+/g, '\n');
}

function time(seconds: number, mark: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${String(ms % 1000).padStart(3, '0')}`;
}

function markdown({ text, title, tasks, tag, transcript, edits }: Exportable): string {
  const parts: string[] = [];
  if (title) parts.push(`# ${line(title)}`);
  if (tag) parts.push(`*${line(tag.topic)} · ${line(tag.intent)}*`);
  const { segments } = transcript;
  const speakers = new Set(segments.map(({ speaker }) => speaker));
  if (speakers.size > 1) {
    let last: string | null = null;
    for (const { start, end, speaker } of segments) {
      const said = escaped(cleanedRange(transcript.text, edits, start, end).trim());
      if (!said) continue;
      parts.push(speaker !== null && speaker !== last ? `**${escaped(line(speaker))}:** ${said}` : said);
      last = speaker;
    }
  } else parts.push(escaped(text.trim()));
  const box = ({ text: task, done }: Thing) => `- [${done ? 'x' : ' '}] ${escaped(line(task))}`;
  if (tasks?.length) parts.push(['## Tasks', '', ...tasks.flatMap((task) => [box(task), ...(task.steps ?? []).map((step) => `  ${box(step)}`)])].join('\n'));
  return withLineEnd(parts.filter(Boolean).join('\n\n'));
}

function line(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** What was said is text and never Markdown's own signs. */
function escaped(text: string): string {
  return text
    .replace(/[\\`*_[\]<>]/g, '\\$&')
    .replace(/^(\s*)([#+-]|\d+[.)])(?=\s)/gm, (_, space: string, sign: string) => `${space}${sign.length > 1 ? sign.slice(0, -1) + '\\' + sign.at(-1) : `\\${sign}`}`);
}

function json({ transcript, edits, text, result, tasks, tag }: Exportable): string {
  const content = {
    raw: transcript.text,
    text,
    edits,
    ...(result && { provenance: result.provenance }),
    segments: transcript.segments,
    ...(tasks && { tasks }),
    ...(tag && { tag: { topic: tag.topic, intent: tag.intent } }),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
