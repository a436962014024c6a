// The command line as a person meets it: what it prints, where it writes, what it says when it cannot.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const data = fileURLToPath(new URL('../data/transcripts/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fairhand-cli-'));
after(() => rmSync(folder, { recursive: true }));
for (const name of ['note.txt', 'note.srt', 'note.vtt', 'note.whisper.json']) copyFileSync(join(data, name), join(folder, name));

/** @param {string[]} args @param {string} [input] */
function run(args, input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: folder, input, encoding: 'utf8', env: { ...process.env, FAIRHAND_MODEL: '' } });
  return { status, stdout, stderr };
}

test('help and version are answers, not errors', () => {
  for (const args of [[], ['--help'], ['clean', '-h']]) {
    const { status, stdout, stderr } = run(args);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /clean FILE…[\s\S]*Exit status/);
    assert.ok(stdout.split('\n').every((line) => line.length <= 120));
  }
  assert.match(run(['--version']).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a file is cleaned beside itself, in its own format, and never over another', () => {
  for (const [name, output, pattern] of /** @type {const} */ ([
    ['note.txt', 'note.clean.txt', /^I have to call the dentist tomorrow\s+and ask/],
    ['note.srt', 'note.clean.srt', /^1\n00:00:00,000 --> 00:00:04,100\n.*I have to call the dentist tomorrow\n\n2\n/],
    ['note.vtt', 'note.clean.vtt', /^WEBVTT\n\n00:00:00.000 --> 00:00:04.100\n<v Sam>I have/],
    ['note.whisper.json', 'note.whisper.clean.json', /^\{\n {2}"raw"/],
  ])) {
    assert.deepEqual(run(['clean', name, '-q']), { status: 0, stdout: '', stderr: '' });
    assert.match(readFileSync(join(folder, output), 'utf8'), pattern);
    const again = run(['clean', name]);
    assert.deepEqual([again.status, again.stderr], [1, `fairhand: ${output} is there already: use --force to write over it.\n`]);
    assert.equal(run(['clean', name, '--force']).status, 0);
  }
});

test('standard input and output, formats, levels and terms', () => {
  assert.equal(run(['clean', '-'], 'um hello question mark').stdout, 'Hello?\n');
  assert.equal(run(['clean', '-', '--level=verbatim', '--term', 'Zoë'], 'um hello').stdout.toLowerCase().slice(0, 8), 'um hello');
  assert.match(run(['clean', 'note.txt', '-o', '-', '-f', 'vtt']).stdout, /^WEBVTT\n\n00:00:00\.000 --> /);
  assert.equal(JSON.parse(run(['clean', 'note.txt', '-o', '-', '-f', 'json']).stdout).segments.length > 0, true);
  assert.equal(run(['clean', 'note.txt', 'note.vtt', '-o', '-', '-f', 'txt']).stdout.split('\n').length >= 3, true);
});

test('what is wrong is said in one sentence, with an exit status of its kind', () => {
  for (const [args, status, message] of /** @type {[string[], number, RegExp][]} */ ([
    [['clean'], 2, /which file/],
    [[''], 2, /what to do: clean, tag, extract or decompose/],
    [['polish', 'x'], 2, /no command polish: use clean, tag, extract or decompose/],
    [['decompose'], 2, /which task: fairhand decompose TASK/],
    [['decompose', 'plan', 'a', 'party'], 2, /needs a model/],
    [['decompose', 'plan a party', '-m', 'missing.gguf'], 3, /no model at missing\.gguf/],
    [['clean', 'note.txt', '-o', 'x.txt', '-m', 'missing.gguf'], 3, /no model at missing\.gguf/],
    [['clean', 'note.txt', '-o', 'x.txt', '-m', 'note.txt'], 3, /not a GGUF file/],
    [['clean', 'note.txt', '-o', '-', '--term', ' '], 1, /note\.txt: dictionary: term 0 is blank/],
    [['clean', 'note.txt', '-o', '-', '--language', 'plain English'], 1, /note\.txt: language must be a tag/],
    [['tag', 'missing.txt', '-m', 'note.txt'], 1, /missing\.txt cannot be read/],
    [['clean', '--loud', 'note.txt'], 2, /no option --loud/],
    [['clean', '--level', 'strong', 'note.txt'], 2, /must be one of/],
    [['clean', 'note.txt', '--level'], 2, /needs a value/],
    [['clean', 'missing.txt'], 1, /missing\.txt cannot be read: there is no such file/],
    [['clean', '.'], 1, /cannot be read: it is a folder/],
    [['clean', 'note.txt', '-o', 'no/where.txt'], 1, /cannot be written/],
    [['tag', 'note.txt'], 2, /needs a model/],
    [['tag', 'note.txt', '-m', 'missing.gguf'], 3, /no model at missing\.gguf/],
    [['tag', 'note.txt', '-m', 'note.txt'], 3, /not a GGUF file/],
    [['extract', 'note.txt', '-m', 'http://127.0.0.1:1/m.gguf?token=secret'], 3, /cannot be reached/],
    [['tag', 'note.txt', 'note.vtt'], 2, /takes one file/],
  ])) {
    const got = run(args);
    assert.equal(got.status, status, args.join(' '));
    assert.match(got.stderr, message);
    assert.match(got.stderr, /^fairhand: [^\n]*\.\n$/);
    assert.doesNotMatch(got.stderr, /secret/);
    assert.equal(got.stdout, '');
  }
  assert.ok(!existsSync(join(folder, 'missing.clean.txt')));
});

test('of several files the one that fails is named, and the others are cleaned', () => {
  const damaged = { 'picture.txt': '\u0089PNG\r\n\u001a\n\u0000\u0000', 'broken.json': '{"segments": [', 'empty.txt': '' };
  for (const [name, content] of Object.entries(damaged)) writeFileSync(join(folder, name), content, 'latin1');
  copyFileSync(join(data, 'note.txt'), join(folder, 'last.txt'));
  const { status, stdout, stderr } = run(['clean', 'missing.txt', ...Object.keys(damaged), 'last.txt', '--force']);
  assert.deepEqual([status, stdout], [1, '']);
  const lines = stderr.trimEnd().split('\n');
  assert.match(lines[0], /^fairhand: missing\.txt cannot be read: there is no such file\.$/);
  assert.match(lines[1], /^fairhand: picture\.txt: .*\.$/);
  assert.match(lines[2], /^fairhand: broken\.json: .*JSON.*\.$/);
  assert.equal(lines[3], 'empty.clean.txt: 0 edits');
  assert.match(lines[4], /^last\.clean\.txt: \d+ edits$/);
  assert.equal(lines.length, 5);
  assert.match(readFileSync(join(folder, 'last.clean.txt'), 'utf8'), /^I have to call the dentist/);
});

test('how a faulty transcript was read is told beside it, unless it is to be quiet', () => {
  writeFileSync(join(folder, 'faulty.srt'), '1\n00:00:01,000 --> 00:00:02,000\num caf\u00e9\n\n2\n00:99:03,000 --> 00:00:04,000\nuh yes\n', 'latin1');
  const { status, stderr } = run(['clean', 'faulty.srt', '-o', '-']);
  assert.equal(status, 0);
  assert.match(stderr, /^faulty\.srt: A time at line 6 could not be read and is left open\.\nfaulty\.srt: The file is no Unicode; .*\n$/);
  const { stdout, stderr: nothing } = run(['clean', 'faulty.srt', '-q', '-o', '-']);
  assert.equal(nothing, '');
  assert.match(stdout, /00:00:02,000 --> 00:00:04,000\n/);
  assert.match(stdout, /café/i);
});

test('who stops reading ends it without a fault', { skip: process.platform === 'win32' }, () => {
  writeFileSync(join(folder, 'long.txt'), 'I said so and then I said it once more. '.repeat(20_000));
  const { stdout, stderr } = spawnSync('sh', ['-c', '"$0" "$1" clean long.txt -q --level verbatim -o - | head -c 6', process.execPath, cli], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([stdout, stderr], ['I said', '']);
});
