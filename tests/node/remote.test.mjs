// The client's half of the protocol against a scripted worker: every promise ends, whatever the worker does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, loadCleaner } from '../../dist/src/index.js';
import { PROTOCOL } from '../../dist/src/protocol.js';

/** @typedef {import('../../dist/src/protocol.js').Request} Request */
/** @typedef {import('../../dist/src/protocol.js').Response} Response */

/** A worker that answers by a script. Messages pass through a structured clone, in later tasks, as with a real one. */
class ScriptedWorker {
  /** @type {((event: { data: Response }) => void) | null} */
  onmessage = null;
  /** @type {((event: { preventDefault(): void }) => void) | null} */
  onerror = null;
  terminated = false;
  /** @type {Request[]} */
  heard = [];

  /** @param {(message: Request, worker: ScriptedWorker) => void} script */
  constructor(script) {
    this.script = script;
  }
  /** @param {Request} message @param {Transferable[]} [transfer] */
  postMessage(message, transfer) {
    const data = structuredClone(message, { transfer });
    setImmediate(() => {
      if (this.terminated) return;
      this.heard.push(data);
      this.script(data, this);
    });
  }
  terminate() {
    this.terminated = true;
  }
  /** @param {Response} response */
  say(response) {
    const data = structuredClone(response);
    setImmediate(() => this.terminated || this.onmessage?.({ data }));
  }
  crash() {
    setImmediate(() => this.onerror?.({ preventDefault() {} }));
  }
}

const info = { worker: true, threads: 1, versions: { crate: '0', rules: 1, prompts: {} } };

/** Starts scripted workers that open well and leave the rest to `script`. @param {(message: any, worker: ScriptedWorker) => void} script */
function factory(script) {
  /** @type {ScriptedWorker[]} */
  const started = [];
  const worker = () => {
    const made = new ScriptedWorker((message, self) => {
      if (message.type === 'open') self.say({ type: 'return', id: message.id, value: info });
      else script(message, self);
    });
    started.push(made);
    return /** @type {any} */ (made);
  };
  return { started, worker };
}

const silent = () => {};
/** When messages under way have arrived. */
const later = () => new Promise((resolve) => setTimeout(resolve, 20));
const model = new Blob(['GGUF']);

test('a call is answered by its own answer, in any order', async () => {
  /** @type {any[]} */
  const runs = [];
  const { worker } = factory((message, self) => {
    runs.push(message);
    if (runs.length < 2) return;
    for (const { id, request } of runs.reverse()) self.say({ type: 'return', id, value: { text: request.text.toUpperCase() } });
  });
  const cleaner = await loadCleaner({ worker });
  const [a, b] = await Promise.all([cleaner.cleanup('a'), cleaner.cleanup('b')]);
  assert.deepEqual([a.text, b.text], ['A', 'B']);
});

test('requests carry what the caller chose and nothing undefined', async () => {
  const { worker, started } = factory(({ id }, self) => self.say({ type: 'return', id, value: {} }));
  const engine = await load(model, { worker, seed: 5 });
  await engine.cleanup('x', { level: 'light', dictionary: ['Zoë'] });
  await engine.tagContent('x', { maxTokens: 9, seed: 7 });
  await engine.extractTasks('x');
  await engine.complete({ prompt: 'p', grammar: 'root ::= "a"', sampling: { temperature: 0 }, stop: ['.'] });
  const requests = started[0].heard.flatMap((message) => (message.type === 'run' ? [message.request] : []));
  assert.deepEqual(requests, [
    { task: 'cleanup', text: 'x', mode: 'choose', options: { level: 'light', dictionary: ['Zoë'] }, seed: 5 },
    { task: 'tagContent', text: 'x', strategy: 'grounded', options: {}, maxTokens: 9, seed: 7 },
    { task: 'extractTasks', text: 'x', examples: [], strategy: 'grounded', seed: 5 },
    { task: 'complete', prompt: 'p', grammar: 'root ::= "a"', sampling: { temperature: 0 }, stop: ['.'], seed: 5 },
  ]);
});

test('errors come typed, and a bad argument never reaches the worker', async () => {
  const { worker, started } = factory(({ id }, self) =>
    self.say({ type: 'throw', id, error: { code: 'invalid-grammar', message: 'no root', retryable: false, detail: { line: 1 } } }),
  );
  const engine = await load(model, { worker });
  await assert.rejects(async () => engine.complete({ prompt: '', grammar: 'x' }), { code: 'invalid-grammar', detail: { line: 1 } });
  const before = started[0].heard.length;
  await assert.rejects(engine.cleanup(/** @type {any} */ (7)), { code: 'invalid-argument' });
  await assert.rejects(engine.tagContent('x', { maxTokens: -1 }), { code: 'invalid-argument' });
  await assert.rejects(engine.tagContent('x', { seed: 0.5 }), { code: 'invalid-argument' });
  assert.equal(started[0].heard.length, before);
});

test('a cancel rejects at once and tells the worker', async () => {
  const { worker, started } = factory(silent);
  const engine = await load(model, { worker });
  const cancel = new AbortController();
  const call = engine.tagContent('x', { signal: cancel.signal });
  setImmediate(() => cancel.abort());
  await assert.rejects(call, { code: 'aborted', name: 'AbortError' });
  await later();
  assert.deepEqual(started[0].heard.map(({ type }) => type), ['open', 'run', 'cancel']);
  await assert.rejects(engine.tagContent('x', { signal: AbortSignal.abort() }), { code: 'aborted' });
  assert.equal(started[0].heard.length, 3);
});

test('a crash rejects every pending call, and the next call has a new worker', async () => {
  const { worker, started } = factory(({ id }, self) => started.length > 1 && self.say({ type: 'return', id, value: 4 }));
  const engine = await load(model, { worker });
  const pending = Promise.allSettled([engine.tagContent('x'), engine.countTokens('x'), engine.cleanup('x')]);
  started[0].crash();
  for (const result of await pending) {
    assert.equal(result.status === 'rejected' && result.reason.code, 'worker-crashed');
  }
  assert.ok(started[0].terminated);
  assert.deepEqual(await Promise.all([engine.countTokens('x'), engine.countTokens('y')]), [4, 4]);
  assert.equal(started.length, 2, 'both calls share the new worker');
});

test('a trap that the worker reports is a crash with its cause', async () => {
  const error = { code: /** @type {const} */ ('internal'), message: 'fault', retryable: false, detail: {} };
  const { worker } = factory((_, self) => self.say({ type: 'crashed', error }));
  const engine = await load(model, { worker });
  await assert.rejects(engine.tagContent('x'), (/** @type {any} */ thrown) => {
    assert.equal(thrown.code, 'worker-crashed');
    assert.equal(thrown.cause.code, 'internal');
    return true;
  });
});

test('a worker that fails to open rejects the load and is ended', async () => {
  const started = [];
  const worker = () => {
    const made = new ScriptedWorker((_, self) => self.crash());
    started.push(made);
    return /** @type {any} */ (made);
  };
  await assert.rejects(load(model, { worker }), { code: 'worker-crashed' });
  assert.ok(started[0].terminated);
});

test('a load is cancelled by ending its worker', async () => {
  const made = new ScriptedWorker(silent);
  const cancel = new AbortController();
  const loading = load(model, { worker: () => /** @type {any} */ (made), signal: cancel.signal });
  setImmediate(() => cancel.abort());
  await assert.rejects(loading, { code: 'aborted' });
  assert.ok(made.terminated);
});

test('a stream is fed piece by piece, and cannot be read again after a crash', async () => {
  const pieces = [new Uint8Array([1]), new Uint8Array([2, 3])];
  const stream = new ReadableStream({ start: (c) => (pieces.forEach((p) => c.enqueue(p)), c.close()) });
  /** @type {number[]} */
  const got = [];
  let id = 0;
  const made = new ScriptedWorker((message, self) => {
    if (message.type === 'open') {
      assert.deepEqual(message.open.source, { kind: 'stream' });
      assert.equal(message.protocol, PROTOCOL);
      id = message.id;
      self.say({ type: 'pull' });
    } else if (message.type === 'chunk' && message.chunk) {
      got.push(...message.chunk);
      self.say({ type: 'pull' });
    } else if (message.type === 'chunk') self.say({ type: 'return', id, value: info });
  });
  const engine = await load(stream, { worker: () => /** @type {any} */ (made) });
  assert.deepEqual(got, [1, 2, 3]);
  made.crash();
  await later();
  await assert.rejects(engine.tagContent('x'), { code: 'worker-crashed', retryable: false });
});

test("a caller's function that throws ends its own call alone", async () => {
  const { worker, started } = factory(({ type, id, tokens }, self) => {
    if (type !== 'run') return;
    if (tokens) self.say({ type: 'token', id, text: 't' });
    else self.say({ type: 'return', id, value: {} });
  });
  const engine = await load(model, { worker });
  const bad = engine.tagContent('x', { onToken: () => { throw new RangeError('mine'); } });
  const good = engine.tagContent('x');
  await assert.rejects(bad, (/** @type {any} */ error) => {
    assert.equal(error.code, 'callback-failed');
    assert.equal(error.cause.message, 'mine');
    return true;
  });
  await good;
  await later();
  assert.ok(started[0].heard.some(({ type }) => type === 'cancel'));
});

test('dispose ends what is pending and refuses what comes', async () => {
  const { worker, started } = factory(silent);
  const engine = await load(model, { worker });
  const pending = assert.rejects(engine.tagContent('x'), { code: 'disposed', name: 'InvalidStateError' });
  await engine.dispose();
  await engine.dispose();
  await pending;
  await assert.rejects(engine.cleanup('x'), { code: 'disposed' });
  assert.ok(started[0].terminated);
});

test('a completion is awaited or iterated, and leaving the loop cancels', async () => {
  const { worker, started } = factory(({ type, id }, self) => {
    if (type !== 'run') return;
    for (const text of ['a', 'b', 'c']) self.say({ type: 'token', id, text });
    if (started[0].heard.length < 4) self.say({ type: 'return', id, value: { text: 'abc' } });
  });
  const engine = await load(model, { worker });
  assert.equal((await engine.complete({ prompt: '' })).text, 'abc');
  let text = '';
  for await (const piece of engine.complete({ prompt: '' })) text += piece;
  assert.equal(text, 'abc');
  for await (const piece of engine.complete({ prompt: '' })) if (piece === 'b') break;
  await later();
  assert.equal(started[0].heard.at(-1)?.type, 'cancel');
});
