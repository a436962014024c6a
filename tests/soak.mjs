// npm run soak: many mixed calls, then many loads and disposes, with an eye on the browser's memory.
//   npm run soak -- [--calls N] [--cycles N]     500 and 50 by default
import { parseArgs } from 'node:util';
import { Failure, main } from '../scripts/lib/fail.mjs';
import { rendererMemory, start } from './browser/harness.mjs';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '500' }, cycles: { type: 'string', default: '50' } } });
/** Growth that is none: the browser's own rhythm of tidying up. */
const SLACK = 60e6;

await main(async () => {
  const site = await start({ '/blank': (_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>blank</title>') });
  try {
    const { page } = await site.page();
    await page.goto(new URL('blank', site.url).href);
    const memory = () => rendererMemory(site.browser);
    const load = () => page.evaluate(async () => {
      const { load: open } = await import(`${location.origin}/src/index.js`);
      /** @type {any} */ (window).engine = await open('/models/default.gguf');
    });

    await load();
    await flat('calls', Number(values.calls), memory, (from, to) => page.evaluate(mixedCalls, /** @type {[number, number]} */ ([from, to])));
    await page.evaluate(() => /** @type {any} */ (window).engine.dispose());
    await flat('cycles', Number(values.cycles), memory, async (from, to) => {
      for (let i = from; i < to; i++) {
        await load();
        await page.evaluate(async () => {
          const { engine } = /** @type {any} */ (window);
          await engine.countTokens('one two three');
          await engine.dispose();
        });
      }
    });
  } finally {
    await site.close();
  }
});

/**
 * Works in five parts. The first warms up; after it, memory must stay where it is.
 * @param {string} what @param {number} count @param {() => Promise<number>} memory
 * @param {(from: number, to: number) => Promise<unknown>} work
 */
async function flat(what, count, memory, work) {
  const samples = [];
  for (let part = 0; part < 5; part++) {
    await work(Math.floor((count * part) / 5), Math.floor((count * (part + 1)) / 5));
    samples.push(await memory());
  }
  console.log(`${count} ${what}: ${samples.map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`).join(', ')}`);
  const growth = Math.min(...samples.slice(-2)) - samples[0];
  if (growth > SLACK) throw new Failure(`Memory grew by ${(growth / 1e6).toFixed(0)} MB over ${count} ${what}.`);
}

/** Runs in the page. @param {[number, number]} range */
async function mixedCalls([from, to]) {
  const { engine } = /** @type {any} */ (window);
  const text = 'um so I I need to call the plumber before noon and uh remind me to send Priya the new budget';
  for (let i = from; i < to; i++) {
    const cancel = new AbortController();
    const options = { signal: cancel.signal, maxTokens: 24 };
    const calls = [
      () => engine.cleanup(text.repeat(1 + (i % 7))),
      () => engine.countTokens(`${text} ${i}`),
      () => engine.tagContent(`${text} ${i % 5}`, options),
      () => engine.extractTasks(text, options),
      () => engine.complete({ prompt: `${i} is`, ...options }),
      () => engine.complete({ prompt: 'a', grammar: 'root ::= (' }),
      () => engine.tagContent(text, { ...options, timeoutMs: 5 }),
    ];
    const call = Promise.resolve(calls[i % calls.length]()).catch((/** @type {any} */ error) => error.code);
    if (i % 11 === 0) cancel.abort();
    await call;
  }
}
