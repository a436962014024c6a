import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { redacted } from '../../dist/src/cache/request.js';
import { openSource } from '../../dist/src/source.js';

const model = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(3_000_000, 7)]);
/** @type {import('node:http').Server} */
let server;
let url = '';

before(async () => {
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname;
    if (path === '/model.gguf') response.end(model);
    else if (path === '/page') response.setHeader('content-type', 'text/html; charset=utf-8').end('<h1>Not here</h1>');
    else if (path === '/text') response.end('{"error": "no such model"}');
    else if (path === '/short') response.setHeader('content-length', model.length).write(model.subarray(0, 1000), () => response.destroy());
    else if (path === '/busy') response.writeHead(503).end();
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

/** @param {import('../../dist/src/cache/remote-model.js').OpenModel} source */
async function all({ chunks }) {
  const parts = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** @param {import('../../dist/src/types.js').ModelSource} source */
const readAll = async (source) => all(await openSource(source));

test('every kind of source gives the same bytes', async () => {
  const pieces = [0, 1, 2, 3, 4, 5000].map((start, i, starts) => model.subarray(start, starts[i + 1]));
  const sources = [
    `${url}/model.gguf`,
    new URL(`${url}/model.gguf`),
    { url: `${url}/model.gguf`, init: { headers: { accept: '*/*' } } },
    new Blob([model]),
    new Uint8Array(model),
    new Uint8Array(model).buffer,
    new ReadableStream({ start: (c) => (pieces.forEach((piece) => c.enqueue(new Uint8Array(piece))), c.close()) }),
  ];
  for (const source of sources) assert.ok((await readAll(source)).equals(model));
});

test('a total is told where there is one', async () => {
  assert.equal((await openSource(`${url}/model.gguf`)).total, model.length);
  assert.equal((await openSource(new Blob([model]))).total, model.length);
});

test('what is not a model is refused with a code that says why', async () => {
  const cases = /** @type {[any, string, boolean][]} */ ([
    [`${url}/missing.gguf`, 'http', false],
    [`${url}/busy`, 'http', true],
    [`${url}/page`, 'corrupt-model', false],
    [`${url}/text`, 'corrupt-model', false],
    [`${url}/short`, 'network', true],
    ['http://127.0.0.1:1/model.gguf', 'network', true],
    [new Blob(['PK\u0003\u0004']), 'corrupt-model', false],
    [new Blob(['GG']), 'corrupt-model', false],
    [new Uint8Array(0), 'corrupt-model', false],
    [new ReadableStream({ start: (c) => c.enqueue('text') }), 'invalid-argument', false],
    [url.replace('//', '//user:secret@'), 'invalid-argument', false],
    ['not a url', 'invalid-argument', false],
    [42, 'invalid-argument', false],
    [null, 'invalid-argument', false],
  ]);
  for (const [source, code, retryable] of cases) {
    await assert.rejects(readAll(source), { code, retryable }, String(source));
  }
});

test('a cancel ends a load before it begins and in the middle', async () => {
  await assert.rejects(openSource(`${url}/model.gguf`, { signal: AbortSignal.abort() }), { code: 'aborted', name: 'AbortError' });
  const cancel = new AbortController();
  const source = await openSource(`${url}/model.gguf`, { signal: cancel.signal });
  await assert.rejects(async () => {
    for await (const chunk of source.chunks) if (chunk.length) cancel.abort();
  }, { code: 'aborted' });
});

test('no message shows a credential', async () => {
  assert.equal(redacted('https://user:secret@models.example/m.gguf?token=secret#secret'), 'https://models.example/m.gguf');
  await assert.rejects(readAll(`${url}/missing.gguf?token=secret`), (/** @type {Error} */ error) => !error.message.includes('secret'));
});
