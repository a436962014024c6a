// npm run bench:models [-- FILE.gguf …]: what a person waits for with each model, in Chromium with two threads: the
// rows of the table of models in docs/guides.md. Without files, the default model. Medians of five.
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { main } from '../../scripts/lib/fail.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { bytes } from '../../scripts/lib/step.mjs';
import { chromium } from '../../scripts/steps/chromium.mjs';
import { model } from '../../scripts/steps/model.mjs';
import { npmPackages } from '../../scripts/steps/npm.mjs';
import { rust } from '../../scripts/steps/rust.mjs';
import { build } from '../../scripts/steps/site.mjs';

const ROUNDS = 5;
const texts = join(root, 'benches', 'inference');
const text = (/** @type {string} */ name) => readFileSync(join(texts, `${name}.txt`), 'utf8').trim();
/** Different words each time, so that nothing but a prompt's own beginning is kept from before. @param {number} i @param {number} count */
const words = (i, count) => [`Note ${i}.`, text('note-warm'), text('transcript'), text('transcript-warm'), text('note')].join(' ').split(/\s+/).slice(0, count).join(' ');
/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

await main(async () => {
  await rust();
  await npmPackages();
  const files = process.argv.slice(2);
  const paths = files.length > 0 ? files : [await model()];
  await chromium();
  await build();
  const { launch } = await import('../../scripts/lib/browser.mjs');
  for (const path of paths) {
    const server = await serve({
      port: 0,
      model: path,
      routes: {
        '/bench': (_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>bench</title>'),
        '/bench/page.mjs': (_, response) => createReadStream(join(texts, 'page.mjs')).pipe(response.setHeader('Content-Type', 'text/javascript')),
      },
    });
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(new URL('bench', server.url).href);
      /** Calls a function of page.mjs in the page. @param {string} name @param {unknown[]} args @returns {Promise<any>} */
      const inPage = (name, ...args) =>
        page.evaluate(async ([name, args]) => (await import(`${location.origin}/bench/page.mjs`))[name](...args), /** @type {[string, unknown[]]} */ ([name, args]));
      const what = { kind: 'ours', model: new URL('models/default.gguf', server.url).href, threads: 2 };
      await inPage('loadToFirstToken', what); // fetches it into the browser's storage
      const loads = [];
      for (let i = 0; i < ROUNDS; i++) loads.push(await inPage('loadToFirstToken', what));
      await inPage('load', 'model', what);
      const cold = await inPage('call', 'model', 'tag', words(0, 60));
      await inPage('call', 'model', 'extract', words(0, 200));
      /** @type {Record<string, number[]>} */
      const times = { tag: [], extract: [], prompt: [], decode: [] };
      for (let i = 1; i <= ROUNDS; i++) {
        times.tag.push((await inPage('call', 'model', 'tag', words(i, 60))).ms);
        times.extract.push((await inPage('call', 'model', 'extract', words(i, 200))).ms);
        const timed = await inPage('complete', 'model', `${i}. ${text('prompt')}`, 33);
        times.prompt.push((timed.promptTokens / timed.promptMs) * 1000);
        times.decode.push((timed.decodeTokens / timed.decodeMs) * 1000);
      }
      const ms = (/** @type {number} */ value) => (value < 100 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(2)} s`);
      console.log(
        `${basename(path)}, ${bytes(statSync(path).size)}: load to first token ${ms(median(loads))}; tag of 60 words ${ms(cold.ms)} first, then ${ms(median(times.tag))}; ` +
          `tasks of 200 words ${ms(median(times.extract))}; reads ${median(times.prompt).toFixed(0)} and writes ${median(times.decode).toFixed(0)} tokens/s`,
      );
    } finally {
      await browser.close();
      await server.close();
    }
  }
});
