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
    ]) codes.push(await codeOf(call));
    return [[codes, codes.map(() => 'invalid-argument')], [await codeOf(() => engine.cleanup('um okay')), 'none']];
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
