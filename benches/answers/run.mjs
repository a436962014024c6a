// node benches/answers/run.mjs [CALLS]: in headless Chromium, so many calls (200) of each of tag, extract and decompose on
// texts that vary, with the model answering freely; then whether every answer parses and is in the
// language of its grammar, by the three judges of `npm run cases`. Ends with one JSON object.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from '../../scripts/lib/browser.mjs';
import { main, Failure } from '../../scripts/lib/fail.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { status } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { model } from '../../scripts/steps/model.mjs';

const subjects = ['the quarterly budget', 'my sister’s wedding', 'the kitchen sink', 'an interview at the museum', 'la réunion de lundi',
  'the "old" shed', 'a 5k run', '東京への旅行', 'backup scripts', 'sleep', 'the landlord', 'Zoë’s birthday 🎂', 'tax return {2025}'];
const frames = [
  (/** @type {string} */ s) => `I need to sort out ${s} before Friday, and then call Anna about it.`,
  (/** @type {string} */ s) => `So, um, thinking about ${s} again. Honestly I am tired of it. Maybe next week.`,
  (/** @type {string} */ s) => `Should we go ahead with ${s}? Send Tom the numbers, book a room, and remind me on the 3rd.`,
  (/** @type {string} */ s) => `Plan ${s}`,
  (/** @type {string} */ s) => `${s}: we decided to wait. I will write the summary tonight and order two more chairs.`,
];
const kinds = {
  tag: { call: 'tagContent', grammar: 'content-tags' },
  extract: { call: 'extractTasks', grammar: 'optional-task-array' },
  decompose: { call: 'decomposeTask', grammar: 'task-array' },
};

await main(async () => {
  const calls = Number(process.argv[2] ?? 200);
  if (!Number.isInteger(calls) || calls < 1) throw new Failure('Give the number of calls of each kind.');
  const server = await serve({ port: 0, model: await model() });
  const browser = await launch();
  const scratch = mkdtempSync(join(tmpdir(), 'fairhand-'));
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(server.url);
    await page.evaluate(async () => {
      const path = '/src/index.js';
      const { load } = await import(path);
      /** @type {any} */ (window).engine = await load('/models/default.gguf');
    });
    const cases = [];
    /** @type {Record<string, { calls: number, parsed: number, truncated: number }>} */
    const counts = {};
    for (const [kind, { call, grammar }] of Object.entries(kinds)) {
      const answers = [];
      let truncated = 0;
      for (let i = 0; i < calls; i++) {
        const text = frames[i % frames.length](subjects[i % subjects.length]);
        // Budgets from tight to ample: however few tokens there are, the answer is whole.
        const options = { strategy: kind === 'decompose' ? undefined : 'free', maxTokens: 40 + (i % 7) * 20, seed: i };
        const result = await page.evaluate(
          ([name, input, rest]) => /** @type {any} */ (window).engine[/** @type {string} */ (name)](input, rest),
          /** @type {const} */ ([call, text, options]),
        );
        answers.push(result.raw);
        truncated += Number(result.truncated);
        if (i % 20 === 19) console.log(`${kind}: ${i + 1} of ${calls}`);
      }
      counts[kind] = { calls, parsed: answers.filter(parses).length, truncated };
      cases.push({ name: kind, grammar: readFileSync(join(root, 'grammars', `${grammar}.gbnf`), 'utf8'), accepts: answers });
    }
    const file = join(scratch, 'answers.json');
    writeFileSync(file, JSON.stringify(cases));
    const judged = await status('npm', ['run', '--silent', 'cases', '--', file], { cwd: root });
    const parsed = Object.values(counts).every((count) => count.parsed === calls);
    if (judged !== 0 || !parsed) process.exitCode = 1;
    console.log(JSON.stringify({ ...counts, inLanguage: judged === 0 }));
  } finally {
    await browser.close();
    await server.close();
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** @param {string} text */
function parses(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
