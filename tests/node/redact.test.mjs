// No credential and no text of the user's leaves in an error, a log, a provenance or a fingerprint. What is planted here is
// looked for in everything that the package says.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { FairhandError } from '../../dist/src/errors.js';
import { load as loadHere, loadCleaner, modelCache } from '../../dist/src/local.js';
import { load as loadBehindWorker } from '../../dist/src/index.js';
import { redact } from '../../dist/src/redact.js';
import { fakeEngine } from '../../dist/src/testing.js';

test('credentials go and the rest of a message stays', () => {
  for (const [message, plain] of [
    ['Failed to fetch https://u:sk-1@host.example/a/m.gguf?token=sk-2#sk-3.', 'Failed to fetch https://host.example/a/m.gguf'],
    ['"https://host.example/m?X-Amz-Signature=sk-1" is no model', '"https://host.example/m" is no model'],
    ['/models/m.gguf?key=sk-1&user=me cannot be read', '/models/m.gguf cannot be read'],
    ['Authorization: Bearer sk-1 was refused', 'Authorization: Bearer … was refused'],
    ['authorization=Basic c2stMQ==', 'authorization=Basic …'],
    ['{"x-api-key":"sk-1","a":1}', '{"x-api-key":"…","a":1}'],
    ['api_key = sk-1, next', 'api_key = …, next'],
    ['What is a token? One of 49,152 pieces.', 'What is a token? One of 49,152 pieces.'],
    ['The file at https://host.example/m.gguf has 3 tokens.', 'The file at https://host.example/m.gguf has 3 tokens.'],
  ]) assert.equal(redact(message), plain);
});

test('an error is redacted however it is made, its cause and its stack too', () => {
  const error = new FairhandError('network', 'https://u:sk-planted@h.example/ cannot be reached.', {
    cause: new TypeError('Failed to parse https://h.example/m?token=sk-planted'),
  });
  assert.doesNotMatch(inspect(error, { depth: 9 }), /planted/);
  assert.match(/** @type {Error} */ (error.cause).message, /^Failed to parse https:\/\/h\.example\/m$/);
});

/** @type {import('node:http').Server} */
let server;
/** @type {string} */
let origin;
before(async () => {
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname;
    if (path === '/cut') {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('GGUF', () => response.destroy());
    } else response.writeHead(path === '/page' ? 200 : 403, { 'content-type': 'text/html' }).end('<h1>sk-planted</h1>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  origin = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
});
after(() => server.close());

/** Everything that one can see of an error. @param {unknown} error */
function all(error) {
  const { detail: { raw, ...detail } = /** @type {any} */ ({}) } = /** @type {any} */ (error) ?? {};
  void raw; // an answer that cannot be used is there because the caller asked for it
  const parts = [];
  for (let cause = /** @type {any} */ (error); cause instanceof Error; cause = cause.cause) {
    parts.push(cause.name, cause.message, cause.stack, JSON.stringify(Object.entries(cause).filter(([name]) => name !== 'detail')));
  }
  return [...parts, JSON.stringify(detail)].join('\n');
}

test('secrets and text planted everywhere are found nowhere', { timeout: 60_000 }, async () => {
  /** @type {string[]} */
  const said = [];
  const methods = /** @type {const} */ (['log', 'info', 'warn', 'error', 'debug']);
  const originals = methods.map((method) => console[method]);
  for (const method of methods) console[method] = (...parts) => void said.push(parts.map((part) => inspect(part, { depth: 9 })).join(' '));
  const secret = 'sk-planted';
  const text = `my own planted words, ${secret}`;
  let refused = 0;
  /** @param {() => PromiseLike<unknown>} call */
  const hear = async (call) => {
    try {
      const result = /** @type {any} */ (await call());
      if (result?.provenance) said.push(JSON.stringify(result.provenance));
    } catch (error) {
      refused++;
      said.push(all(error));
    }
  };
  try {
    // Addresses and headers of models.
    const bare = origin.slice('http://'.length);
    const sources = [
      `http://user:${secret}@${bare}/m.gguf`,
      `${origin}/m.gguf?token=${secret}#${secret}`,
      `${origin}/page?token=${secret}`,
      `${origin}/cut?token=${secret}`,
      `http://127.0.0.1:1/m.gguf?token=${secret}`,
      `http://[${secret}/`,
      `nonsense://user:${secret}@x/?${secret}`,
      { url: `${origin}/m.gguf?token=${secret}`, init: { headers: { authorization: `Bearer ${secret}` } } },
      { url: `${origin}/m.gguf`, init: { headers: { authorization: `Bearer ${secret}\n` } } },
      { url: `${origin}/m.gguf?${secret}`, sha256: secret },
      [`${origin}/a.gguf?${secret}`, `${origin}/b.gguf?${secret}`],
      new Blob([text]),
      new Blob([`GGUF${text}`]),
      new TextEncoder().encode(text),
      new ReadableStream({ start: (controller) => controller.error(new Error(`${origin}/m.gguf?token=${secret} is gone`)) }),
      new ReadableStream({ start: (controller) => (controller.enqueue(text), controller.close()) }),
      { url: text },
      Symbol(secret),
    ];
    for (const source of sources) await hear(() => loadHere(/** @type {any} */ (source), { cache: false }));
    for (const worker of [`http://user:${secret}@${bare}/w.js`, `http://[${secret}/`, () => { throw new Error('no worker'); }]) {
      await hear(() => loadBehindWorker(`${origin}/m.gguf?${secret}`, { worker }));
    }
    for (const model of [`${origin}/m.gguf?token=${secret}`, `http://[${secret}/`]) {
      await hear(() => modelCache.has(model));
      await hear(() => modelCache.add(model));
      await hear(() => modelCache.verify(model));
    }
    said.push(JSON.stringify(await modelCache.list()));

    // The user's text: in calls, prompts, profiles, and where it does not belong. Without a recorder.
    const engines = /** @type {any[]} */ ([fakeEngine({ complete: text, tagContent: new FairhandError('internal', 'broken') }), await loadCleaner()]);
    const thing = { toString: () => text, [text]: text };
    for (const engine of engines) {
      await hear(() => engine.cleanup(text));
      await hear(() => engine.cleanup(`um ${text}`, { mode: 'rewrite' }));
      await hear(() => engine.cleanup(thing));
      for (const options of [{ level: text }, { preset: text }, { dictionary: [text, ''] }, { dictionary: thing }, { language: text }, { mode: text }]) {
        await hear(() => engine.cleanup('um', options));
      }
      for (const options of [{ profile: secret }, { priority: text }, { maxTokens: text }, { timeoutMs: text }, { reasoning: thing }, { signal: thing }]) {
        await hear(() => engine.cleanup('um', options));
      }
      await hear(() => engine.readTranscript(`{"${text}"`, `${secret}.json`));
      await hear(() => engine.readTranscript(thing));
      if (!engine.complete) continue;
      const definition = { id: 'p', version: 1, messages: [{ role: 'user', content: `${text} {{a}}` }], inputs: [{ name: 'a' }] };
      await hear(() => engine.registerPrompt(definition));
      await hear(() => engine.registerPrompt(definition));
      await hear(() => engine.registerPrompt({ ...definition, id: thing }));
      await hear(() => engine.registerProfile({ name: 'f', model: { url: `${origin}/m.gguf?${secret}`, init: { headers: { authorization: `Bearer ${secret}` } } } }));
      await hear(() => engine.registerProfile({ name: 'g', model: `http://[${secret}/` }));
      await hear(() => engine.prepare([secret]));
      await hear(() => engine.complete({ prompt: { id: 'p' }, inputs: [{ name: 'a', text, origin: 'notes/1' }] }));
      await hear(() => engine.complete({ prompt: { id: secret } }));
      await hear(() => engine.complete({ prompt: { id: 'p' }, inputs: [{ name: secret, text }] }));
      await hear(() => engine.complete({ prompt: text, signal: AbortSignal.abort() }));
      await hear(() => engine.tagContent(text));
      said.push(await engine.fingerprint(), inspect(engine, { depth: 9, showHidden: true }), JSON.stringify(engine.info));
    }
  } finally {
    methods.forEach((method, at) => (console[method] = originals[at]));
  }
  for (const line of said) assert.doesNotMatch(line, /planted/, line.slice(0, 400));
  assert.ok(refused > 40, `${refused} refusals were looked at`);
});
