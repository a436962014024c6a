// node benches/cleanup/run.mjs [MINUTES]: in headless Chromium, how long a cleanup of 100 words takes by rules and with the
// model's word, and how many tokens the model reads for it; then the same for so many minutes of speech (120), which the
// model's bound holds down. Ends with one JSON object; times in milliseconds, the median of all texts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../scripts/lib/browser.mjs';
import { main } from '../../scripts/lib/fail.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { model } from '../../scripts/steps/model.mjs';

const WORDS = 100;
const WORDS_PER_MINUTE = 150;

await main(async () => {
  const minutes = Number(process.argv[2] ?? 120);
  // As a recogniser without marks hears it.
  const said = readFileSync(join(root, 'tests/data/turns.txt'), 'utf8').toLowerCase().replace(/[.,?]/g, '').split(/\s+/).filter(Boolean);
  const texts = Array.from({ length: Math.floor(said.length / WORDS) }, (_, i) => said.slice(i * WORDS, (i + 1) * WORDS).join(' '));
  const long = Array.from({ length: minutes * WORDS_PER_MINUTE }, (_, i) => said[i % said.length]).join(' ');
  const server = await serve({ port: 0, model: await model() });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(server.url);
    const measured = await page.evaluate(async ([texts, long]) => {
      const path = '/src/index.js';
      const { load } = await import(path);
      const engine = await load('/models/default.gguf');
      const cleanup = async (/** @type {string} */ text, /** @type {object} */ options) => {
        const start = performance.now();
        const { usage, fallback } = await engine.cleanup(text, options);
        return { ms: performance.now() - start, tokens: usage.promptTokens, fallback };
      };
      await cleanup(texts[0], {}); // tables, and code that is compiled as it is needed
      const rules = [];
      const judged = [];
      for (const text of texts) {
        rules.push(await cleanup(text, { mode: 'rules' }));
        judged.push(await cleanup(text, {}));
      }
      const all = { rules, judged, long: await cleanup(long, {}), longRules: await cleanup(long, { mode: 'rules' }) };
      return { ...all, threads: engine.info.threads };
    }, /** @type {const} */ ([texts, long]));
    const { rules, judged, threads } = measured;
    const tokens = judged.reduce((sum, { tokens }) => sum + tokens, 0);
    const seconds = judged.reduce((sum, { ms }) => sum + ms, 0) / 1000;
    console.log(JSON.stringify({
      threads,
      rulesMs: median(rules.map(({ ms }) => ms)),
      modelMs: median(judged.map(({ ms }) => ms)),
      tokens: Math.round(tokens / judged.length),
      tokensPerSecond: Math.round(tokens / seconds),
      minutes,
      longRulesMs: Math.round(measured.longRules.ms),
      longModelMs: Math.round(measured.long.ms),
      longTokens: measured.long.tokens,
      longFallback: measured.long.fallback,
    }));
  } finally {
    await browser.close();
    await server.close();
  }
});

/** @param {number[]} values */
function median(values) {
  return Math.round(10 * [...values].sort((a, b) => a - b)[values.length >> 1]) / 10;
}
