// Models as files of this machine: every way to name one, and what is said where there is none.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isLocalFile } from '../../dist/src/files.js';
import { openSource } from '../../dist/src/source.js';
import { fakeEngine } from '../../dist/src/testing.js';

const folder = mkdtempSync(join(tmpdir(), 'fairhand files ü-'));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'a model.gguf');
const model = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(3_000_000, 7)]);
writeFileSync(path, model);

test('a path, from anywhere, and a file: URL give the file', async () => {
  for (const source of [path, relative(process.cwd(), path), pathToFileURL(path), pathToFileURL(path).href]) {
    const { chunks, total } = await openSource(source);
    const parts = [];
    for await (const chunk of chunks) parts.push(chunk);
    assert.equal(total, model.length, String(source));
    assert.ok(Buffer.concat(parts).equals(model), String(source));
  }
});

test('what names a file of this machine, and what an address', () => {
  for (const source of ['model.gguf', './model.gguf', '/m/model.gguf', 'C:\\models\\m.gguf', 'D:/m.gguf', 'file:///m.gguf', new URL('file:///m.gguf')]) {
    assert.ok(isLocalFile(source), String(source));
  }
  for (const source of ['https://models.example/m.gguf', 'HTTP://x/m.gguf', 'blob:x', new URL('https://x/m.gguf'), '', 7, null, { url: 'm.gguf' }]) {
    assert.ok(!isLocalFile(source), String(source));
  }
});

test('no file, a folder, a part that is missing: said by its name, typed', async () => {
  const first = join(folder, 'part-00001-of-00002.gguf');
  writeFileSync(first, model);
  for (const [source, named] of /** @type {const} */ ([
    [join(folder, 'missing.gguf'), 'missing.gguf'],
    [folder, folder],
    [first, 'part-00002-of-00002.gguf'],
  ])) {
    await assert.rejects(openSource(source), (/** @type {any} */ error) => error.code === 'invalid-argument' && error.message.includes(named), source);
  }
});

test("a profile's model may be a path", async () => {
  const engine = fakeEngine();
  await engine.registerProfile({ name: 'large', model: path });
  await engine.prepare(['large']);
  await engine.dispose();
});
