// npm run demo: a transcript through the package in headless Chromium; prints {text, edits, tasks, tag, usage} as JSON.
//   npm run demo [-- FILE]     FILE is .txt, .srt, .vtt or .json; by default the page's sample
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Failure, main } from './lib/fail.mjs';
import { root } from './lib/paths.mjs';
import { serve } from './lib/serve.mjs';
import { say } from './lib/step.mjs';
import { chromium } from './steps/chromium.mjs';
import { model } from './steps/model.mjs';
import { npmPackages } from './steps/npm.mjs';
import { rust } from './steps/rust.mjs';
import { build } from './steps/site.mjs';

await main(async () => {
  const input = transcript(process.argv[2]);
  await rust();
  await npmPackages();
  const path = await model();
  await chromium();
  await build();

  const { launch } = await import('./lib/browser.mjs'); // its driver is there only now
  const server = await serve({ port: 0, model: path });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.on('console', (message) => message.type() === 'log' && say(`  ${message.text()}`));
    await page.goto(new URL('models/manifest.json', server.url).href); // any document of this origin
    console.log(JSON.stringify(await page.evaluate(inPage, input), null, 2));
  } finally {
    await browser.close();
    await server.close();
  }
});

/** Runs in the browser. @param {{ text: string, name: string }} input */
async function inPage({ text, name }) {
  /** @type {typeof import('../dist/src/index.js')} */
  const { load } = await import(`${location.origin}/src/index.js`);
  console.log('loading the model …');
  const engine = await load(`${location.origin}/models/default.gguf`);
  const transcript = await engine.readTranscript(text, name);
  console.log('cleaning …');
  const cleaned = await engine.cleanup(transcript.text);
  console.log('finding the tag …');
  const tag = await engine.tagContent(cleaned.text);
  console.log('finding tasks …');
  const tasks = await engine.extractTasks(cleaned.text);
  await engine.dispose();
  return {
    text: cleaned.text,
    edits: cleaned.edits,
    tasks: tasks.tasks.map((task) => task.text),
    tag: { topic: tag.topic, intent: tag.intent },
    usage: { cleanup: cleaned.usage, tag: tag.usage, tasks: tasks.usage },
  };
}

/** @param {string | undefined} file relative to where npm was called */
function transcript(file) {
  const path = file ? resolve(process.env.INIT_CWD ?? '.', file) : join(root, 'www', 'page', 'sample.vtt');
  try {
    return { text: readFileSync(path, 'utf8'), name: basename(path) };
  } catch {
    throw new Failure(`There is no file ${path} to read: give the path of a transcript.`);
  }
}
