// What every implementation of the interface promises, whatever model or script is behind it. Each check runs where the
// engine is (in a page its source is sent there), and gives pairs of what came and what should have come.

/**
 * @typedef {import('../../dist/src/types.js').Engine} Engine
 * @typedef {{ engine: Engine, codeOf: (call: () => PromiseLike<unknown>) => Promise<string> }} Given
 * @typedef {[string, (given: Given) => Promise<[unknown, unknown][]>]} Check
 */

/** The code that a call rejects with, or throws; `untyped` for an error that has none. @param {() => PromiseLike<unknown>} call */
export async function codeOf(call) {
  try {
    await call();
    return 'none';
  } catch (error) {
    return /** @type {any} */ (error)?.code ?? 'untyped';
  }
}

/** @type {Check[]} */
export const contract = [
  ['wrong arguments are refused with a code, and the engine works on', async ({ engine, codeOf }) => {
    const any = /** @type {any} */ (engine);
    const codes = [];
    for (const call of [
      () => any.cleanup(7),
      () => any.cleanup('a', null),
      () => any.cleanup('a', 7),
      () => any.cleanup('a', { signal: {} }),
      () => any.cleanup('a', { onProgress: 'x' }),
      () => any.tagContent('a', null),
      () => any.tagContent('a', { signal: 'x' }),
      () => any.tagContent('a', { onToken: {} }),
      () => any.tagContent('a', { maxTokens: -1 }),
      () => any.tagContent('a', { seed: 0.5 }),
      () => any.extractTasks(undefined),
      () => any.extractTasks('a', []),
      () => any.decomposeTask({}),
      () => any.countTokens(null),
      () => any.countTokens('a', { signal: {} }),
      () => any.readTranscript(7),
      () => any.readTranscript('a', 7),
      () => any.complete(),
      () => any.complete(null),
      () => any.complete({}),
      () => any.complete({ prompt: 7 }),
      () => any.complete({ prompt: 'a', messages: [{ role: 'user', content: 'b' }] }),
      () => any.complete({ messages: [{ role: 'user' }] }),
      () => any.complete({ prompt: 'a', signal: {} }),
      () => any.complete({ prompt: 'a', inputs: [] }),
      () => any.complete({ prompt: {} }),
      () => any.complete({ prompt: null }),
      () => any.complete({ prompt: { id: 'x', version: -1 } }),
      () => any.complete({ prompt: { id: 'x' }, inputs: [{ name: 'a' }] }),
      () => any.complete({ prompt: { id: 'x' }, variables: { a: 1 } }),
      () => any.complete({ prompt: 'a', decode: 'x' }),
      () => any.tagContent('a', { timeoutMs: -1 }),
      () => any.tagContent('a', { timeoutMs: NaN }),
      () => any.tagContent('a', { timeoutMs: Infinity }),
      () => any.tagContent('a', { priority: 'high' }),
      () => any.tagContent('a', { retries: 21 }),
      () => any.tagContent('a', { repairs: -1 }),
      () => any.tagContent('a', { repairs: 1.5 }),
      () => any.tagContent('a', { profile: 7 }),
      () => any.tagContent('a', { profile: 'nobody' }),
      () => any.tagContent('a', { session: {} }),
      () => any.tagContent('a', { reasoning: 1 }),
      () => any.registerPrompt(),
      () => any.registerPrompt({ id: 'x', version: 1 }),
      () => any.registerPrompt({ id: 'x', version: 0, messages: [{ role: 'user', content: 'a' }] }),
      () => any.registerPrompt({ id: 'x', version: 1, messages: [{ role: 'user', content: 'a' }], inputs: [{ name: 'b' }] }),
      () => any.registerPrompt({ id: 'x', version: 1, messages: [{ role: 'user', content: 'a' }], output: {} }),
      () => any.registerProfile(null),
      () => any.registerProfile({ name: ' ' }),
      () => any.registerProfile({ name: 'a', maxTokens: 0 }),
      () => any.registerProfile({ name: 'a', timeoutMs: -1 }),
      () => any.registerProfile({ name: 'a', model: 7 }),
      () => any.registerProfile({ name: 'a', model: new ReadableStream() }),
      () => any.prepare('a'),
      () => any.prepare(['nobody']),
      () => any.prepare([], { sginal: undefined, progress: 1 }),
      () => any.cleanup('a', { level: 'strong' }),
      () => any.cleanup('a', { preset: 'letter' }),
      () => any.cleanup('a', { mode: 'guess' }),
      () => any.cleanup('a', { dictionary: 'Zoë' }),
      () => any.cleanup('a', { dictionary: ['Zoë', ' '] }),
      () => any.cleanup('a', { dictionary: ['x'.repeat(101)] }),
      () => any.cleanup('a', { dictionary: Array.from({ length: 1001 }, (_, i) => `term ${i}`) }),
      () => any.cleanup('a', { language: 'English please' }),
      () => any.extractTasks('a', { examples: [{}] }),
      () => any.extractTasks('a', { examples: { input: 'a' } }),
      () => any.extractTasks('a', { strategy: 'bold' }),
      () => any.decomposeTask('a', { examples: [{ input: 'a', correctedOutput: 7 }] }),
      () => any.decomposeTask(' 1. '),
      () => any.tagContent('a', { topics: 'garden' }),
      () => any.tagContent('a', { intents: [{ name: 'bug' }] }),
      () => any.tagContent('a', { maxTokens: 0 }),
      () => any.tagContent('a', { maxTokens: 2 ** 32 }),
      () => any.complete({ prompt: 'a', stop: 'x' }),
      () => any.complete({ prompt: 'a', grammar: 7 }),
      () => any.complete({ prompt: 'a', regex: /a/ }),
      () => any.complete({ prompt: 'a', sampling: 1 }),
      () => any.complete({ prompt: 'a', sampling: { temperature: -1 } }),
      () => any.complete({ prompt: 'a', sampling: { topK: 0 } }),
      () => any.complete({ prompt: 'a', sampling: { topP: 1.5 } }),
    ]) codes.push(await codeOf(call));
    return [[codes, codes.map(() => 'invalid-argument')], [await codeOf(() => engine.cleanup('um okay')), 'none']];
  }],

  ['an option that no call has is refused by its name, and a near one is offered', async ({ engine }) => {
    const any = /** @type {any} */ (engine);
    const said = (/** @type {() => PromiseLike<unknown>} */ call) =>
      new Promise((resolve) => resolve(call())).then(() => 'nothing', (error) => `${error.code}: ${error.message}`);
    const told = await Promise.all([
      said(() => any.cleanup('a', { levle: 'light' })),
      said(() => any.tagContent('a', { signals: undefined, maxToken: 4 })),
      said(() => any.complete({ prompt: 'a', samplings: {} })),
      said(() => any.complete({ prompt: 'a', sampling: { topk: 4 } })),
      said(() => any.countTokens('a', { 'my secret text': 1 })),
      said(() => any.cleanup('a', { level: undefined, nothing: undefined })),
    ]);
    const unknown = 'invalid-argument: There is no option';
    return [
      [told.slice(0, 4), [`${unknown} levle here; did you mean level?`, `${unknown} maxToken here; did you mean maxTokens?`, `${unknown} samplings here; did you mean sampling?`, `${unknown} topk here; did you mean topK?`]],
      [/^invalid-argument: There is no option … here: it takes signal, .*\.$/.test(String(told[4])), true],
      [told[5], 'nothing'],
    ];
  }],

  ["a caller's function that throws ends its own call, typed, and no other", async ({ engine, codeOf }) => {
    const thrown = () => {
      throw new RangeError('mine');
    };
    const bad = codeOf(() => engine.complete({ prompt: 'Once upon a time', maxTokens: 8, onToken: thrown }));
    const good = codeOf(() => engine.cleanup('um okay'));
    const cause = await Promise.resolve(engine.complete({ prompt: 'Once upon a time', maxTokens: 8, onToken: thrown })).catch((error) => error.cause?.message);
    return [[await bad, 'callback-failed'], [await good, 'none'], [cause, 'mine']];
  }],

  ['a hundred calls at once are all answered, in order', async ({ engine }) => {
    /** @type {number[]} */
    const ended = [];
    const calls = Array.from({ length: 100 }, (_, i) =>
      (i % 2 ? engine.countTokens('one two three') : engine.cleanup('so this is it')).then((answer) => (ended.push(i), answer)),
    );
    const answers = await Promise.all(calls);
    return [[ended, ended.map((_, i) => i)], [answers.every(Boolean), true], [ended.length, 100]];
  }],

  ['a cancelled call leaves the others alone', async ({ engine, codeOf }) => {
    const cancels = Array.from({ length: 9 }, () => new AbortController());
    const calls = cancels.map(({ signal }) => codeOf(() => engine.cleanup('um okay', { signal })));
    cancels.forEach((cancel, i) => i % 3 === 0 && cancel.abort());
    const codes = await Promise.all(calls);
    return [
      [codes, codes.map((_, i) => (i % 3 === 0 ? 'aborted' : 'none'))],
      [await codeOf(() => engine.cleanup('a', { signal: AbortSignal.abort() })), 'aborted'],
      [await codeOf(() => engine.countTokens('a', { signal: AbortSignal.abort() })), 'aborted'],
    ];
  }],

  ['a completion can be awaited, iterated, and left', async ({ engine }) => {
    const request = { prompt: 'Once upon a time', maxTokens: 6, sampling: { temperature: 0 } };
    const whole = (await engine.complete(request)).text;
    let pieces = '';
    for await (const piece of engine.complete(request)) pieces += piece;
    for await (const piece of engine.complete(request)) if (piece) break;
    return [[pieces, whole], [whole.length > 0, true]];
  }],

  ['a registered prompt answers by its names, and what cannot be named is refused', async ({ engine, codeOf }) => {
    const definition = {
      id: 'contract', version: 1, profile: 'contract',
      messages: [{ role: /** @type {const} */ ('user'), content: 'Say {{word}} in a {{tone}} tone.{{hint}}' }],
      inputs: [{ name: 'word' }, { name: 'hint', optional: true }], variables: ['tone'],
    };
    const before = await engine.fingerprint();
    const identity = await engine.registerPrompt(definition);
    const twice = await codeOf(() => engine.registerPrompt(definition));
    const withPrompt = await engine.fingerprint();
    const request = {
      prompt: { id: 'contract' }, variables: { tone: 'kind' }, session: 's-1', maxTokens: 4,
      inputs: [{ name: 'word', text: 'secret word', origin: 'notes/1' }],
    };
    const early = await codeOf(() => engine.complete(request));
    await engine.registerProfile({ name: 'contract', maxTokens: 5 });
    const again = await codeOf(() => engine.registerProfile({ name: 'contract' }));
    await engine.prepare(['contract']);
    const withProfile = await engine.fingerprint();
    const { text, value, provenance } = await engine.complete({ ...request, decode: (raw) => raw.length });
    const refused = [];
    for (const bad of [
      { prompt: { id: 'nobody' } },
      { prompt: { id: 'contract', version: 2 } },
      { inputs: [] },
      { inputs: [...request.inputs, ...request.inputs] },
      { inputs: [...request.inputs, { name: 'more', text: 'x' }] },
      { variables: {} },
      { variables: { tone: 'a', more: 'b' } },
      { profile: 'nobody' },
    ]) refused.push(await codeOf(() => /** @type {any} */ (engine).complete({ ...request, ...bad })));
    return [
      [[identity.id, identity.version, identity.digest.length], ['contract', 1, 16]],
      [[twice, early, again], ['invalid-argument', 'invalid-argument', 'invalid-argument']],
      [new Set([before, withPrompt, withProfile]).size, 3],
      [value, text.length],
      [provenance.prompt, identity],
      [[provenance.profile, provenance.session], ['contract', 's-1']],
      [provenance.inputs, [{ name: 'word', origin: 'notes/1' }]],
      [/secret/.test(JSON.stringify(provenance)), false],
      [refused, refused.map(() => 'invalid-argument')],
    ];
  }],

  ['an answer that the caller cannot read is asked for as often as it says, and then kept on the error', async ({ engine, codeOf }) => {
    let read = 0;
    const request = { prompt: 'Once upon a time', maxTokens: 3, decode: () => { read++; throw new RangeError('mine'); } };
    const error = await Promise.resolve(engine.complete({ ...request, retries: 2 })).catch((reason) => reason);
    const { detail, cause } = error;
    const once = await codeOf(() => engine.complete(request));
    return [
      [[error.code, typeof detail.raw, detail.attempts, cause.message], ['invalid-structured-output', 'string', 3, 'mine']],
      [[once, read], ['invalid-structured-output', 4]],
    ];
  }],

  ["a time limit of the work and a signal's are told apart, and zero is no limit", async ({ engine, codeOf }) => {
    const long = { prompt: 'Once upon a time', maxTokens: 200 };
    const signal = AbortSignal.abort(new DOMException('', 'TimeoutError'));
    const told = await engine.cleanup('um', { signal }).then(() => ['none'], (error) => [error.code, error.name]);
    return [
      [told, ['aborted', 'TimeoutError']],
      [await codeOf(() => engine.cleanup('um okay', { timeoutMs: 0 })), 'none'],
      [await codeOf(() => engine.complete({ ...long, signal: AbortSignal.abort(), timeoutMs: 0 })), 'aborted'],
    ];
  }],

  ['background work waits for those who wait themselves', async ({ engine }) => {
    /** @type {string[]} */
    const ended = [];
    const call = (/** @type {string} */ name, /** @type {'interactive' | 'background'} */ priority) =>
      Promise.resolve(engine.complete({ prompt: 'Once upon a time', maxTokens: 8, priority })).then(() => ended.push(name));
    await Promise.all([call('first', 'background'), call('later', 'background'), call('person', 'interactive')]);
    return [[ended, ['first', 'person', 'later']]];
  }],

  ['edits turn the raw text into the cleaned one', async ({ engine }) => {
    const pairs = /** @type {[unknown, unknown][]} */ ([]);
    for (const raw of ['um okay', '😀 um so the the cat', '', 'nul\u0000 um']) {
      const { text, edits } = await engine.cleanup(raw);
      let made = '';
      let at = 0;
      for (const { start, end, replacement } of edits) {
        made += raw.slice(at, start) + replacement;
        at = end;
      }
      pairs.push([made + raw.slice(at), text]);
    }
    return pairs;
  }],

  // Last: there is no engine after it.
  ['dispose ends what is running and what waits, and refuses what comes', async ({ engine, codeOf }) => {
    const pending = [
      codeOf(() => engine.complete({ prompt: 'Once upon a time', maxTokens: 400 })),
      codeOf(() => engine.tagContent('a note')),
      codeOf(() => engine.countTokens('a')),
    ];
    await engine.dispose();
    await engine.dispose();
    return [[await Promise.all(pending), ['disposed', 'disposed', 'disposed']], [await codeOf(() => engine.cleanup('a')), 'disposed']];
  }],
];
