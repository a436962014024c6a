// A model cut into files is the same model.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { shardsOf } from '../../dist/src/shards.js';
import { openSource } from '../../dist/src/source.js';

/** @param {bigint} value */
const u64 = (value) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(value); return b; };
const u32 = (/** @type {number} */ value) => { const b = Buffer.alloc(4); b.writeUInt32LE(value); return b; };
const u16 = (/** @type {number} */ value) => { const b = Buffer.alloc(2); b.writeUInt16LE(value); return b; };
const text = (/** @type {string} */ value) => Buffer.concat([u64(BigInt(Buffer.byteLength(value))), Buffer.from(value)]);
const padding = (/** @type {number} */ length) => Buffer.alloc(Math.ceil(length / 32) * 32 - length);

const pairs = [
  [text('general.name'), u32(8), text('tiny')],
  [text('tokens'), u32(9), u32(8), u64(3n), text('a'), text('bb'), text('ü')],
  [text('scores'), u32(9), u32(6), u64(2n), Buffer.alloc(8, 1)],
  [text('nested'), u32(9), u32(9), u64(1n), u32(0), u64(3n), Buffer.from([1, 2, 3])],
  [text('flag'), u32(7), Buffer.from([1])],
].map((parts) => Buffer.concat(parts));
const tensors = ['one', 'two', 'three'].map((name, i) => ({ name, data: Buffer.alloc(40 + 30 * i, i + 1) }));

/** @param {Buffer[]} keys @param {typeof tensors} held */
function gguf(keys, held) {
  const infos = [];
  const data = [];
  let offset = 0;
  for (const { name, data: bytes } of held) {
    infos.push(text(name), u32(1), u64(BigInt(bytes.length)), u32(24), u64(BigInt(offset)));
    data.push(bytes, padding(bytes.length));
    offset += bytes.length + padding(bytes.length).length;
  }
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(BigInt(held.length)), u64(BigInt(keys.length)), ...keys, ...infos]);
  return Buffer.concat([head, padding(head.length), ...data]);
}

const whole = gguf(pairs, tensors);
const split = (/** @type {number} */ number) => Buffer.concat([
  text('split.no'), u32(2), u16(number), text('split.count'), u32(2), u16(2), text('split.tensors.count'), u32(5), u32(3),
]);
const shards = [gguf([...pairs, ...cut(0)], tensors.slice(0, 2)), gguf(cut(1), tensors.slice(2))];

/** The three keys that say how a model was cut. @param {number} number */
function cut(number) {
  const all = split(number);
  const first = text('split.no').length + 6;
  const second = first + text('split.count').length + 6;
  return [all.subarray(0, first), all.subarray(first, second), all.subarray(second)];
}

/** @param {import('../../dist/src/types.js').ModelSource} source */
async function read(source) {
  const opened = await openSource(source);
  const parts = [];
  for await (const chunk of opened.chunks) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  assert.equal(opened.total, bytes.length);
  return bytes;
}
const blob = (/** @type {Buffer} */ bytes) => new Blob([new Uint8Array(bytes)]);

test('the files of a model join to the one that they were cut from', async () => {
  assert.ok((await read(shards.map(blob))).equals(whole));
  assert.ok((await read([blob(whole)])).equals(whole), 'a list of one');
});

test('by an address of the first, all are fetched', async () => {
  const asked = /** @type {(string | undefined)[]} */ ([]);
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end(shards[Number(/-0000(\d)-/.exec(url ?? '')?.[1]) - 1]);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  assert.ok((await read(`http://127.0.0.1:${port}/tiny-00001-of-00002.gguf?token=x`)).equals(whole));
  assert.deepEqual(asked, ['/tiny-00001-of-00002.gguf?token=x', '/tiny-00002-of-00002.gguf?token=x']);
  server.close();
  server.closeAllConnections();
});

test('an address that names no part is no list', () => {
  assert.equal(shardsOf({ url: 'https://a.example/model.gguf' }), undefined);
  assert.equal(shardsOf({ url: 'https://a.example/m-00002-of-00003.gguf' })?.length, 3);
  for (const count of ['00000', '99999']) {
    assert.throws(() => shardsOf({ url: `https://a.example/m-00001-of-${count}.gguf` }), { code: 'invalid-argument' });
  }
});

test('files that do not belong together are refused, and so is every broken header', async () => {
  const wrong = [[shards[1], shards[0]], [shards[0]], [shards[0], shards[0]], [shards[0], Buffer.from('PK..')], []];
  for (const files of [wrong[0], wrong[2], wrong[3]]) await assert.rejects(read(files.map(blob)), { code: 'corrupt-model' });
  await assert.rejects(read(wrong[4].map(blob)), { code: 'invalid-argument' });
  const headerLength = whole.indexOf(tensors[0].data);
  for (let length = 0; length < headerLength - 32; length += 7) {
    await assert.rejects(read([blob(shards[0].subarray(0, length)), blob(shards[1])]), { code: 'corrupt-model' }, `${length} bytes`);
  }
  const huge = Buffer.from(shards[0]);
  huge.writeBigUInt64LE(2n ** 63n, 24); // the length of the first key
  await assert.rejects(read([blob(huge), blob(shards[1])]), { code: 'corrupt-model' });
  assert.equal(createHash('sha256').update(await read(shards.map(blob))).digest('hex'), createHash('sha256').update(whole).digest('hex'));
});
