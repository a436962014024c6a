// node benches/answers/run.mjs FILE [CALLS [SECONDS]]: in headless Chromium, so many calls (200) of each of tag, extract and
// decompose on texts that vary, with the model answering freely; then whether every answer parses and is in the language of
// its grammar, by the three judges of `npm run cases`. Ends with one JSON object.
//
// FILE keeps the answers, as cases. After so many seconds a run stops, and the next one with the same file goes on there.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
  const [file, ...numbers] = process.argv.slice(2);
  const [calls = 200, seconds = Infinity] = numbers.map(Number);
  if (!file || !Number.isInteger(calls) || !(calls > 0 && seconds > 0)) throw new Failure('Give a file, and perhaps a number of calls and of seconds.');
  /** @type {{ name: string, grammar: string, accepts: string[], calls: number, refused: number, truncated: number }[]} */
  const cases = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : Object.entries(kinds).map(([name, { grammar }]) => ({ name, grammar: readFileSync(join(root, 'grammars', `${grammar}.gbnf`), 'utf8'), accepts: [], calls: 0, refused: 0, truncated: 0 }));
  const end = Date.now() + 1000 * seconds;
  const server = await serve({ port: 0, model: await model() });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(server.url);
    await page.evaluate(async () => {
      const path = '/src/index.js';
      const { load } = await import(path);
      /** @type {any} */ (window).engine = await load('/models/default.gguf');
    });
    // In turn, so that a run that is cut short has some of each.
    for (let i = Math.min(...cases.map((of) => of.calls)); i < calls && Date.now() < end; i++) {
      for (const of of cases.filter((of) => of.calls === i)) {
        const text = frames[i % frames.length](subjects[i % subjects.length]);
        // Budgets from tight to ample: however few tokens there are, the answer is whole.
        const options = { strategy: 'free', maxTokens: 40 + (i % 7) * 20, seed: i };
        const result = await page.evaluate(
          // Where no answer has usable steps, the engine says so and gives none.
          ([name, input, rest]) => /** @type {any} */ (window).engine[/** @type {string} */ (name)](input, rest).catch((/** @type {any} */ error) => {
            if (error.code === 'invalid-structured-output') return undefined;
            throw error;
          }),
          /** @type {const} */ ([kinds[/** @type {keyof typeof kinds} */ (of.name)].call, text, options]),
        );
        of.calls += 1;
        if (result) of.accepts.push(result.raw);
        of.refused += Number(!result);
        of.truncated += Number(result?.truncated ?? false);
      }
      writeFileSync(file, JSON.stringify(cases));
      if (i % 20 === 19) console.log(`${i + 1} of ${calls}`);
    }
    const judged = await status('npm', ['run', '--silent', 'cases', '--', file], { cwd: root });
    const counts = cases.map(({ name, accepts, calls, refused, truncated }) => [name, { calls, parsed: accepts.filter(parses).length, refused, truncated }]);
    if (judged !== 0 || cases.some(({ accepts }) => !accepts.every(parses))) process.exitCode = 1;
    console.log(JSON.stringify({ ...Object.fromEntries(counts), inLanguage: judged === 0 }));
  } finally {
    await browser.close();
    await server.close();
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
