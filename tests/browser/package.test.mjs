// The package in Chromium: one suite over both implementations, then what only a worker can survive.
import assert from 'node:assert/strict';
import { openSync, readSync, statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { PATIENCE, start } from './harness.mjs';

/** @type {Awaited<ReturnType<typeof start>>} */
let site;
/** @type {import('playwright-core').Page} */
let page;
/** The worker that was started last: the shared engine's, where it has one. @type {import('playwright-core').Worker} */
let worker;

before(async () => {
  site = await start({
    '/blank': (_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>blank</title>'),
    '/bad/page': (_, response) => response.setHeader('content-type', 'text/html').end('<h1>Not here</h1>'),
    '/bad/zip': (_, response) => response.end(Buffer.from('PK\u0003\u0004 and so on')),
    '/bad/missing': (_, response) => response.writeHead(404).end(),
    '/bad/short': (_, response) => response.end(head(1_000_000)),
    '/bad/cut': (_, response) => {
      response.setHeader('content-length', statSync(site.modelPath).size);
      response.write(head(1_000_000), () => response.destroy());
    },
  });
  ({ page } = await site.page());
  page.on('worker', (started) => {
    if (started.url().endsWith('/worker.js')) worker = started; // its helpers are workers too, and deaf
  });
  await page.goto(new URL('blank', site.url).href);
});
after(() => site.close());

/** The model's first bytes. @param {number} length */
function head(length) {
  const bytes = Buffer.alloc(length);
  readSync(openSync(site.modelPath, 'r'), bytes, 0, length, 0);
  return bytes;
}

/** What the page's scripts share with each other: `window.fairhand`, made by {@link prepare}. */
/** @typedef {{ engine: import('../../dist/src/index.js').Engine } & typeof import('../../dist/src/index.js')} Shared */

/** Loads an entry of the package and a model with it. @param {string} entry */
async function prepare(entry) {
  await page.evaluate(async (path) => {
    /** @type {typeof import('../../dist/src/index.js')} */
    const entryModule = await import(path);
    /** @type {any} */ (window).fairhand = { ...entryModule, engine: await entryModule.load('/models/default.gguf') };
    /** The code of what a promise rejects with. */
    /** @type {any} */ (window).codeOf = (/** @type {PromiseLike<unknown>} */ promise) => promise.then(() => 'none', (/** @type {any} */ error) => error.code);
  }, entry);
}

/** Runs a function in the page with the package and the shared engine. @template T @param {(shared: Shared & { codeOf(p: PromiseLike<unknown>): Promise<string> }) => T} body @returns {Promise<Awaited<T>>} */
function inPage(body) {
  return page.evaluate(`(${body})({ ...window.fairhand, codeOf: window.codeOf })`);
}

for (const entry of ['/src/local.js', '/src/index.js']) {
  describe(`the interface by ${entry}`, () => {
    before(() => prepare(entry), { timeout: PATIENCE });
    after(() => inPage(({ engine }) => engine.dispose()));

    test('says what it is', async () => {
      const { info, capabilities } = await inPage(({ engine, capabilities }) => ({ info: engine.info, capabilities: capabilities() }));
      assert.equal(info.worker, entry === '/src/index.js');
      assert.equal(info.model?.architecture, 'llama');
      assert.match(info.versions.crate, /^\d+\.\d+\.\d+/);
      assert.ok(capabilities.simd && capabilities.threads && capabilities.crossOriginIsolated, 'the headers isolate the page');
    });

    test('cleans with offsets of the caller’s own string, whatever is in it', async () => {
      const raws = ['um okay', 'the the cat', '😀 um 😀 uh 😀', '\ud800 um \udc00', 'nul\u0000 um tab\t end', ''];
      const results = await page.evaluate(
        (texts) => Promise.all(texts.map((text) => /** @type {any} */ (window).fairhand.engine.cleanup(text))),
        raws,
      );
      raws.forEach((raw, i) => {
        const { text, edits } = results[i];
        let made = '';
        let at = 0;
        for (const { start, end, original, replacement } of edits) {
          assert.equal(original, raw.slice(start, end));
          made += raw.slice(at, start) + replacement;
          at = end;
        }
        assert.equal(made + raw.slice(at), text);
        assert.ok(!/\bu[mh]\b/i.test(text), JSON.stringify(text));
      });
    });

    test('refuses arguments of the wrong type before any work, and works on', async () => {
      const codes = await page.evaluate(async () => {
        const { engine } = /** @type {any} */ (window).fairhand;
        const code = (/** @type {Promise<unknown>} */ call) => call.then(() => 'none', (error) => error.code);
        return [
          await code(engine.readTranscript('hi', 5)),
          await code(engine.cleanup(7)),
          await code(engine.tagContent('a note', { maxTokens: -1 })),
          await code(engine.cleanup('um okay')),
        ];
      });
      assert.deepEqual(codes, ['invalid-argument', 'invalid-argument', 'invalid-argument', 'none']);
    });

    test('tags, extracts and decomposes, with usage and progress', { timeout: PATIENCE }, async () => {
      const got = await inPage(async ({ engine }) => {
        const text = 'I need to call the plumber before noon.';
        const phases = new Set();
        let streamed = '';
        const options = { onProgress: (/** @type {any} */ p) => phases.add(p.phase), onToken: (/** @type {string} */ t) => (streamed += t) };
        const tag = await engine.tagContent(text, { strategy: 'free', ...options });
        const tasks = await engine.extractTasks(text, { strategy: 'free', maxTokens: 64 });
        const grounded = await engine.extractTasks(text);
        // A small model may not find three different steps: then it says so and pads nothing.
        const steps = await engine.decomposeTask('Repaint the kitchen', { maxTokens: 120 }).catch((error) => error.code);
        const short = await engine.tagContent(text);
        return { text, tag, tasks, grounded, short, steps, streamed, phases: [...phases], tokens: await engine.countTokens(text) };
      });
      for (const { topic } of [got.tag, got.short]) assert.match(topic, /^[a-z0-9]+(-[a-z0-9]+){0,2}$/);
      assert.ok(got.streamed.endsWith(got.tag.raw), 'the answer that counts is the last that was written');
      assert.deepEqual(got.phases.sort(), ['decode', 'prefill']);
      assert.ok(got.tasks.tasks.every(({ text }) => text));
      const [task] = got.grounded.tasks;
      assert.match(task.text, /^Call the plumber/);
      assert.match(got.text.slice(task.start, task.end), /call the plumber/, 'where the speaker said so');
      if (got.steps !== 'invalid-structured-output') assert.ok(got.steps.steps.length >= 3 && got.steps.steps.length <= 7);
      for (const { usage } of [got.tag, got.tasks]) {
        assert.ok(usage.promptTokens > 20 && usage.completionTokens > 0 && usage.totalMs > 0 && (usage.ttftMs ?? 0) > 0);
      }
      assert.ok(got.tokens > 5 && got.tokens < 20);
    });

    test('completes under a grammar, the same with the same seed', { timeout: PATIENCE }, async () => {
      const got = await inPage(async ({ engine }) => {
        const request = { prompt: 'Yes or no? Answer:', grammar: 'root ::= " yes" | " no"', sampling: { temperature: 1 }, seed: 3 };
        const whole = await engine.complete(request);
        let pieces = '';
        for await (const piece of engine.complete(request)) pieces += piece;
        let first = '';
        for await (const piece of engine.complete({ prompt: 'Once upon a time', maxTokens: 200 })) {
          first += piece;
          break;
        }
        return { whole: whole.text, pieces, first };
      });
      assert.match(got.whole, /^ (yes|no)$/);
      assert.equal(got.pieces, got.whole);
      assert.ok(got.first.length > 0 && got.first.length < 40);
    });

    test('fails with a code and works on', { timeout: PATIENCE }, async () => {
      const codes = await inPage(async ({ engine, codeOf }) => {
        const codes = {
          grammar: await codeOf(engine.complete({ prompt: 'a', grammar: 'root ::= (' })),
          long: await codeOf(engine.complete({ prompt: 'word '.repeat(20_000) })),
          longNote: await codeOf(engine.tagContent('word '.repeat(20_000))),
          argument: await codeOf(engine.complete({ prompt: 'a', sampling: { topP: 7, temperature: 1 } })),
          timeout: await codeOf(engine.complete({ prompt: 'Once upon a time', maxTokens: 200, timeoutMs: 30 })),
          signal: await codeOf(engine.complete({ prompt: 'Once upon a time', signal: AbortSignal.timeout(30) })),
          aborted: await codeOf(engine.tagContent('x', { signal: AbortSignal.abort() })),
        };
        const cancel = new AbortController();
        const running = engine.complete({ prompt: 'Once upon a time', maxTokens: 200 });
        const queued = engine.tagContent('x', { signal: cancel.signal });
        cancel.abort();
        return { ...codes, queued: await codeOf(queued), works: (await engine.cleanup('um yes')).text, running: await codeOf(running) };
      });
      assert.deepEqual(codes, {
        grammar: 'invalid-grammar',
        long: 'context-overflow',
        longNote: 'none', // its beginning is enough for a tag
        argument: 'invalid-argument',
        timeout: 'timeout',
        signal: 'aborted',
        aborted: 'aborted',
        queued: 'aborted',
        works: 'Yes.',
        running: 'none',
      });
    });

    test('a cancel is heard within 100 ms of work, prefill included', { timeout: PATIENCE }, async () => {
      // The module is in the worker, or in the page itself.
      const place = /** @type {import('playwright-core').Page} */ (entry === '/src/index.js' ? worker : page);
      await place.evaluate(watchSteps);
      await inPage(async ({ engine, codeOf }) => {
        const long = 'I have to write to the landlord about the heating before Monday. '.repeat(12);
        for (const phase of ['prefill', 'decode']) {
          const cancel = new AbortController();
          await codeOf(engine.extractTasks(long, { strategy: 'free', signal: cancel.signal, onProgress: (p) => p.phase === phase && cancel.abort() }));
        }
      });
      const steps = /** @type {number[]} */ (await place.evaluate('globalThis.steps')).sort((a, b) => a - b);
      assert.ok(steps.length > 50);
      // The work of a step, on a machine that others use too: the odd step that was put aside says nothing.
      const high = steps[Math.floor(steps.length * 0.98)];
      assert.ok(high <= 100, `98 % of ${steps.length} steps within ${high.toFixed(0)} ms, the longest ${steps.at(-1)?.toFixed(0)} ms`);
    });

    test('a registered prompt is read once, answers in its form, and is repaired by nobody unasked', { timeout: PATIENCE }, async () => {
      const got = await inPage(async ({ engine }) => {
        await engine.registerPrompt({
          id: 'colour', version: 1,
          messages: [
            { role: 'system', content: 'Name the colour of what the user names. Tone: {{tone}}.' },
            { role: 'user', content: '{{thing}}' },
          ],
          inputs: [{ name: 'thing' }], variables: ['tone'], output: { schema: { enum: ['red', 'green', 'blue'] } },
        });
        const ask = (/** @type {string} */ text) =>
          engine.complete({ prompt: { id: 'colour' }, inputs: [{ name: 'thing', text, origin: 'page' }], variables: { tone: 'plain' }, decode: (raw) => JSON.parse(raw) });
        return [await ask('a clear sky'), await ask('fresh grass')];
      });
      for (const { text, value, attempts, provenance } of got) {
        assert.ok(['red', 'green', 'blue'].includes(value) && JSON.stringify(value) === text);
        assert.equal(attempts, 1);
        assert.match(`${provenance.modelDigest} ${provenance.prompt?.digest} ${provenance.grammarDigest}`, /^([0-9a-f]{16} ?){3}$/);
        assert.deepEqual(provenance.inputs, [{ name: 'thing', origin: 'page' }]);
      }
      assert.ok(got[1].usage.cachedTokens > 10, 'what the prompts have in common was read once');
    });

    test('a recorder has what the model was asked and wrote', { timeout: PATIENCE }, async () => {
      const got = await page.evaluate(async () => {
        const { fairhand } = /** @type {any} */ (window);
        /** @type {any[]} */
        const records = [];
        const engine = await fairhand.load('/models/default.gguf', { recorder: (/** @type {any} */ record) => void records.push(record) });
        const request = { messages: [{ role: 'user', content: 'Say yes.' }], maxTokens: 6, session: 's-1' };
        const { text } = await engine.complete(request);
        const codes = [];
        for (const bad of [{ timeoutMs: 1, maxTokens: 200 }, { grammar: 'root ::= (' }]) {
          codes.push(await engine.complete({ ...request, ...bad }).then(() => 'none', (/** @type {any} */ error) => error.code));
        }
        await engine.dispose();
        return { text, codes, records };
      });
      assert.deepEqual(got.codes, ['timeout', 'invalid-grammar']);
      const [good, late, refused] = got.records;
      assert.deepEqual(good.attempts.map((/** @type {any} */ { kind, prompt, response }) => [kind, prompt.messages.at(-1).content, response]), [['first', 'Say yes.', got.text]]);
      assert.deepEqual([good.session, good.task, good.error], ['s-1', 'complete', undefined]);
      assert.equal(late.error.code, 'timeout');
      assert.equal(late.attempts[0].error, 'timeout');
      assert.deepEqual([refused.error.code, refused.attempts], ['invalid-grammar', []]);
    });

    test('prefixes outlive an engine', { timeout: PATIENCE }, async () => {
      const got = await page.evaluate(async () => {
        const { fairhand, codeOf } = /** @type {any} */ (window);
        const bytes = await fairhand.engine.exportPrefixes();
        const engine = await fairhand.load('/models/default.gguf');
        const refused = await codeOf(engine.importPrefixes(bytes.slice(1)));
        const taken = await engine.importPrefixes(bytes);
        const { usage } = await engine.extractTasks('I need to call the plumber.', { strategy: 'free', maxTokens: 30 });
        await engine.dispose();
        return { refused, taken, usage };
      });
      assert.equal(got.refused, 'invalid-argument');
      assert.ok(got.taken > 0 && got.usage.cachedTokens > 30, JSON.stringify(got));
    });

    test('dispose ends what is pending and refuses what comes', { timeout: PATIENCE }, async () => {
      const codes = await inPage(async ({ engine, codeOf }) => {
        const pending = [engine.tagContent('x'), engine.countTokens('x')].map(codeOf);
        await engine.dispose();
        return [...(await Promise.all(pending)), await codeOf(engine.cleanup('x'))];
      });
      assert.deepEqual(codes, ['disposed', 'disposed', 'disposed']);
    });
  });
}

/** Runs where the wasm module is: notes how long each step of a job takes. */
async function watchSteps() {
  const { instantiate } = await import(`${location.origin}/src/module.js`);
  const { Job } = (await instantiate({})).wasm;
  const step = Job.prototype.step;
  const steps = (/** @type {any} */ (globalThis).steps = /** @type {number[]} */ ([]));
  Job.prototype.step = function (/** @type {number} */ now) {
    const began = performance.now();
    try {
      return step.call(this, now);
    } finally {
      steps.push(performance.now() - began);
    }
  };
}

describe('sources', () => {
  before(() => prepare('/src/index.js'), { timeout: PATIENCE });

  test('bad models are refused with a code, and the next load works', { timeout: PATIENCE }, async () => {
    const got = await inPage(async ({ load, codeOf }) => {
      const cut = new Blob([await (await fetch('/bad/short')).arrayBuffer()]);
      const stream = () => cut.stream();
      return {
        missing: await codeOf(load('/bad/missing')),
        page: await codeOf(load('/bad/page')),
        zip: await codeOf(load('/bad/zip')),
        short: await codeOf(load('/bad/short')),
        cut: await codeOf(load('/bad/cut')),
        blob: await codeOf(load(cut)),
        stream: await codeOf(load(stream())),
        empty: await codeOf(load(new ArrayBuffer(0))),
        aborted: await codeOf(load('/models/default.gguf', { signal: AbortSignal.timeout(20) })),
        again: await load('/models/default.gguf').then((engine) => engine.dispose().then(() => 'works')),
      };
    });
    assert.deepEqual(got, {
      missing: 'http',
      page: 'corrupt-model',
      zip: 'corrupt-model',
      short: 'corrupt-model',
      cut: 'network',
      blob: 'corrupt-model',
      stream: 'corrupt-model',
      empty: 'corrupt-model',
      aborted: 'aborted',
      again: 'works',
    });
  });

  test('a model arrives as a file, a buffer or a stream as well', { timeout: PATIENCE }, async () => {
    const counts = await inPage(async ({ load }) => {
      const blob = await (await fetch('/models/default.gguf')).blob();
      const counts = [];
      for (const source of [blob, await blob.arrayBuffer(), blob.stream()]) {
        /** @type {any[]} */
        const seen = [];
        const engine = await load(source, { onProgress: (progress) => seen.push(progress) });
        counts.push([await engine.countTokens('one two three'), seen.at(-1).loaded === blob.size]);
        await engine.dispose();
      }
      return counts;
    });
    assert.deepEqual(counts, Array(3).fill([counts[0][0], true]));
  });

  test('a KV cache of each type answers, and another is refused', { timeout: PATIENCE }, async () => {
    const answers = await inPage(async ({ load }) => {
      const answers = [];
      for (const kvCache of /** @type {import('../../dist/src/types.js').KvCacheType[]} */ (['f32', 'f16', 'q8_0', 'q4_0'])) {
        const engine = await load('/models/default.gguf', { kvCache }).catch((error) => ({ code: error.code }));
        if ('code' in engine) {
          answers.push(engine.code);
          continue;
        }
        const { text } = await engine.complete({ prompt: 'The capital of France is', maxTokens: 2 });
        answers.push(text.trim().split(/\W/)[0]);
        await engine.dispose();
      }
      return answers;
    });
    assert.deepEqual(answers, ['Paris', 'Paris', 'Paris', 'invalid-argument']);
  });

});

describe('when the worker ends', () => {
  before(() => prepare('/src/index.js'), { timeout: PATIENCE });

  for (const [name, end] of /** @type {[string, string][]} */ ([
    ['killed without a word', 'self.close()'],
    ['stopped by a script error', 'setTimeout(() => { throw new Error("injected"); })'],
    ['trapped', `import(location.origin + '/src/module.js').then(async ({ instantiate }) => {
      const { Job } = (await instantiate({})).wasm;
      // The smallest module with a function that traps.
      const trap = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11]);
      const { f } = new WebAssembly.Instance(new WebAssembly.Module(trap)).exports;
      Job.prototype.step = () => f();
    })`],
  ])) {
    test(`a worker that is ${name} rejects its calls, and the next call works`, { timeout: PATIENCE }, async () => {
      await page.evaluate(() => {
        const { fairhand, codeOf } = /** @type {any} */ (window);
        const calls = [fairhand.engine.complete({ prompt: 'Once upon a time', maxTokens: 400 }), fairhand.engine.countTokens('x')];
        /** @type {any} */ (window).ended = Promise.all(calls.map(codeOf));
      });
      await worker.evaluate(end).catch(() => {}); // a worker that is gone does not answer
      assert.deepEqual(await page.evaluate('window.ended'), ['worker-crashed', 'worker-crashed']);
      assert.ok((await inPage(({ engine }) => engine.countTokens('one two three'))) >= 3);
    });
  }
});

describe('profiles', () => {
  before(() => prepare('/src/index.js'), { timeout: PATIENCE });
  after(() => inPage(({ engine }) => engine.dispose()));

  test('a profile brings a model of its own, and outlives a crash with its prompts', { timeout: PATIENCE }, async () => {
    const got = await inPage(async ({ engine, codeOf }) => {
      await engine.registerPrompt({ id: 'greeting', version: 1, messages: [{ role: 'user', content: 'Say hello.' }], profile: 'second' });
      await engine.registerProfile({ name: 'second', model: { url: '/models/default.gguf' }, maxTokens: 4 });
      const request = { prompt: { id: 'greeting' } };
      const early = await codeOf(engine.complete(request));
      const unknown = await codeOf(engine.prepare(['second', 'nobody']));
      const before = await engine.fingerprint();
      const phases = new Set();
      await engine.prepare(['second'], { onProgress: ({ phase }) => phases.add(phase) });
      const { text, provenance, usage } = await engine.complete(request);
      return { early, unknown, changed: before !== (await engine.fingerprint()), phases: phases.size, text, provenance, usage };
    });
    assert.deepEqual([got.early, got.unknown], ['invalid-argument', 'invalid-argument']);
    assert.ok(got.changed && got.phases > 0 && got.usage.completionTokens <= 4);
    assert.equal(got.provenance.profile, 'second');
    await worker.evaluate('self.close()').catch(() => {});
    await page.evaluate('window.codeOf(window.fairhand.engine.countTokens("x"))'); // either the last of the old worker, or the first of the new one
    const again = await inPage(async ({ engine }) => (await engine.complete({ prompt: { id: 'greeting' } })).text);
    assert.equal(again, got.text);
  });
});
