// npm run bench [-- --rounds N] [--quick]: this package beside wllama in one Chromium, and beside native llama.cpp.
//
// Contestants take turns in one browser, with the same file, prompts and greedy decoding; medians of the rounds. Prompts
// begin with a number of their own, so that no cache helps. Prints a table on standard error and, as the last line, one
// JSON object of ratios, ours over theirs, medians of the rounds' own: higher is better (but for the memory and the size).
// --quick leaves out wllama's other formats and its cleanup, which take minutes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Failure, main } from '../../scripts/lib/fail.mjs';
import { root, site } from '../../scripts/lib/paths.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { bytes, say, seconds } from '../../scripts/lib/step.mjs';
import { chromium } from '../../scripts/steps/chromium.mjs';
import { model } from '../../scripts/steps/model.mjs';
import { npmPackages } from '../../scripts/steps/npm.mjs';
import { rust } from '../../scripts/steps/rust.mjs';
import { build } from '../../scripts/steps/site.mjs';
import { native, requantised, wllama } from './peers.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const text = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');
const DECODED = 33; // the first token belongs to the prompt's time
const OTHER_FORMATS = ['Q8_0', 'Q4_0'];

/** @typedef {{ promptTokens: number, promptMs: number, decodeTokens: number, decodeMs: number, text: string }} Timed */

await main(async () => {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, quick: { type: 'boolean', default: false } } });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Failure('--rounds takes a whole number, 1 or more.');
  const began = Date.now();

  await rust();
  await npmPackages();
  const path = await model();
  await chromium();
  await build();
  const peer = await wllama();
  const formats = values.quick ? [] : OTHER_FORMATS;
  const others = [];
  for (const format of formats) others.push({ format, path: await requantised(path, format) });
  const nativeModule = await native();

  const { launch } = await import('../../scripts/lib/browser.mjs');
  const server = await serve({ port: 0, model: path, routes: routes(peer.folder, others) });
  const browser = await launch();
  const llama = nativeModule && (await startNative(nativeModule, path));
  try {
    const page = await browser.newPage();
    await page.goto(new URL('bench', server.url).href);
    /** Calls a function of page.mjs in the page. @param {string} name @param {unknown[]} args @returns {Promise<any>} */
    const inPage = (name, ...args) =>
      page.evaluate(async ([name, args]) => (await import(`${location.origin}/bench/page.mjs`))[name](...args), /** @type {[string, unknown[]]} */ ([name, args]));
    const mine = new URL('models/default.gguf', server.url).href;

    // Speed of reading and writing.
    /** @type {[string, { kind: 'ours' | 'wllama', model: string, threads: number }][]} */
    const contestants = [
      ['fairhand 1', { kind: 'ours', model: mine, threads: 1 }],
      ['fairhand 2', { kind: 'ours', model: mine, threads: 2 }],
      ['wllama 1', { kind: 'wllama', model: mine, threads: 1 }],
      ['wllama 2', { kind: 'wllama', model: mine, threads: 2 }],
      ...others.map(({ format }) => /** @type {[string, any]} */ ([`wllama 1 ${format}`, { kind: 'wllama', model: new URL(`bench/${format}.gguf`, server.url).href, threads: 1 }])),
    ];
    say('• loading everybody …');
    for (const [name, what] of contestants) await inPage('load', name, what);
    /** @type {Map<string, Timed[]>} */
    const runs = new Map([...contestants.map(([name]) => name), ...(llama ? ['llama.cpp 1'] : [])].map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, timed] of runs) {
        const prompt = `${1000 + round}. ${text('benches/inference/prompt.txt').trim()}`;
        timed.push(name === 'llama.cpp 1' ? await llama.complete(prompt, DECODED) : await inPage('complete', name, prompt, DECODED));
      }
      say(`  round ${round + 1} of ${rounds}: ${[...runs].map(([name, timed]) => `${name} ${speeds(timed.slice(-1)).decode.toFixed(1)}`).join(', ')} tokens/s`);
    }
    const speed = Object.fromEntries([...runs].map(([name, timed]) => [name, speeds(timed)]));

    // The answers: ours the same with any number of threads; how long the others agree.
    const answers = Object.fromEntries([...runs].map(([name, timed]) => [name, timed.map((run) => run.text)]));
    answers['fairhand 1'].forEach((answer, i) => {
      if (answer !== answers['fairhand 2'][i]) throw new Failure('One thread and two gave different answers.');
    });

    // Whole tasks.
    // What is timed as warm finds the prompts kept, and nothing of its own: a first call has read its own, and where a call may
    // need others too, one between has read those. Notes differ in how much is left in doubt, so there are several.
    const parts = (/** @type {string} */ file) => text(`benches/inference/${file}.txt`).split(/\n\s*\n/).map((part) => part.trim()).filter(Boolean);
    const tasks = {
      tag: await task('tag', parts('note'), parts('note-between'), parts('note-warm')),
      cleanup: values.quick ? undefined : await task('cleanup', parts('transcript'), [], parts('transcript-warm')),
    };
    /** Times in milliseconds, the warm texts' mean. @param {string} name @param {string[]} cold one text @param {string[]} between @param {string[]} warm */
    async function task(name, [cold], between, warm) {
      const timed = async (/** @type {'ours' | 'wllama'} */ kind) => {
        await inPage('load', name, { kind, model: mine, threads: 1 });
        const first = await inPage('call', name, name, cold);
        for (const one of between) await inPage('call', name, name, one);
        let total = 0;
        for (const one of warm) total += (await inPage('call', name, name, one)).ms;
        await inPage('close', name);
        return { cold: first.ms, warm: total / warm.length, answer: first.answer };
      };
      const ours = [];
      for (let i = 0; i < 5; i++) ours.push(await timed('ours'));
      const theirs = await timed('wllama'); // once: they take minutes
      say(`  ${name}: fairhand answered ${JSON.stringify(ours[0].answer).slice(0, 200)}`);
      say(`  ${name}: wllama answered ${JSON.stringify(theirs.answer).slice(0, 200)}`);
      return { ours: { cold: median(ours.map(({ cold }) => cold)), warm: median(ours.map(({ warm }) => warm)) }, theirs };
    }
    for (const [name] of contestants) await inPage('close', name);

    // Loading from the browser's own cache.
    const loads = { ours: /** @type {number[]} */ ([]), theirs: /** @type {number[]} */ ([]) };
    for (let round = 0; round < rounds; round++) {
      loads.ours.push(await inPage('loadToFirstToken', { kind: 'ours', model: mine, threads: 1 }));
      loads.theirs.push(await inPage('loadToFirstToken', { kind: 'wllama', model: mine, threads: 1 }));
    }
    const peak = await inPage('peakMemory', mine);
    const gzip = Math.max(...['simd', 'threads'].map((name) => gzipSync(readFileSync(join(site, 'src', 'wasm', name, 'fairhand_bg.wasm')), { level: 9 }).length));

    table(speed, answers, tasks, loads, peak, path, peer.version);
    say(`\nall of it took ${seconds(began)}`);
    const ratio = (/** @type {number | undefined} */ a, /** @type {number | undefined} */ b) => (a === undefined || b === undefined ? null : Number((a / b).toFixed(3)));
    // Round by round, since a machine is not equally fast in all of them.
    const against = (/** @type {'prompt' | 'decode'} */ what, /** @type {string} */ ours, /** @type {string[]} */ ...theirs) => {
      if (!theirs.every((name) => runs.has(name))) return null;
      const speedOf = (/** @type {string} */ name, /** @type {number} */ round) => speeds([/** @type {Timed[]} */ (runs.get(name))[round]])[what];
      const ratios = Array.from({ length: rounds }, (_, round) => speedOf(ours, round) / Math.max(...theirs.map((name) => speedOf(name, round))));
      return ratio(median(ratios), 1);
    };
    const formatsOfWllama = ['wllama 1', ...OTHER_FORMATS.map((format) => `wllama 1 ${format}`)];
    console.log(JSON.stringify({
      decode_vs_wllama: against('decode', 'fairhand 1', 'wllama 1'),
      prompt_vs_wllama: against('prompt', 'fairhand 1', 'wllama 1'),
      threads2_vs_1: against('decode', 'fairhand 2', 'fairhand 1'),
      prompt_threads2_vs_1: against('prompt', 'fairhand 2', 'fairhand 1'),
      decode_vs_wllama_best: against('decode', 'fairhand 1', ...formatsOfWllama),
      prompt_vs_wllama_best: against('prompt', 'fairhand 1', ...formatsOfWllama),
      decode_vs_native: against('decode', 'fairhand 1', 'llama.cpp 1'),
      prompt_vs_native: against('prompt', 'fairhand 1', 'llama.cpp 1'),
      tag_vs_wllama: ratio(tasks.tag.theirs.cold, tasks.tag.ours.cold),
      tag_warm_vs_wllama: ratio(tasks.tag.theirs.warm, tasks.tag.ours.warm),
      cleanup_vs_wllama: ratio(tasks.cleanup?.theirs.cold, tasks.cleanup?.ours.cold),
      cleanup_warm_vs_wllama: ratio(tasks.cleanup?.theirs.warm, tasks.cleanup?.ours.warm),
      load_vs_wllama: ratio(median(loads.theirs), median(loads.ours)),
      peak_memory_vs_file: ratio(peak, statSync(path).size),
      wasm_gzip_bytes: gzip,
    }));
  } finally {
    llama?.stop();
    await browser.close();
    await server.close();
  }
});

/** @param {string} folder of wllama @param {{ format: string, path: string }[]} others */
function routes(folder, others) {
  /** @type {Record<string, import('../../scripts/lib/serve.mjs').Handler>} */
  const routes = {};
  const file = (/** @type {string} */ path, /** @type {string} */ type) => {
    return (/** @type {import('node:http').IncomingMessage} */ _, /** @type {import('node:http').ServerResponse} */ response) => {
      response.setHeader('Content-Type', type).setHeader('Content-Length', statSync(path).size);
      createReadStream(path).pipe(response);
    };
  };
  // wllama starts its worker from a blob, which the page's own policy would not let it do.
  routes['/bench'] = (_, response) => {
    response.setHeader('Content-Security-Policy', "default-src 'self' blob: 'unsafe-inline' 'unsafe-eval'");
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>bench</title>');
  };
  routes['/bench/page.mjs'] = file(join(here, 'page.mjs'), 'text/javascript');
  routes['/bench/prompts.json'] = (_, response) => {
    const prompts = {
      tag: { system: text('src/tasks/prompts/content-tags.v1.txt'), grammar: text('grammars/content-tags.gbnf'), maxTokens: 48 },
      cleanup: { system: text('src/tasks/prompts/cleanup.v1.txt'), maxTokens: 120 },
    };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(prompts));
  };
  routes['/wllama/index.js'] = file(join(folder, 'index.js'), 'text/javascript');
  routes['/wllama/wasm/wllama.wasm'] = file(join(folder, 'wasm', 'wllama.wasm'), 'application/wasm');
  for (const { format, path } of others) routes[`/bench/${format}.gguf`] = file(path, 'application/octet-stream');
  return routes;
}

/** @param {string} moduleUrl @param {string} path */
async function startNative(moduleUrl, path) {
  const child = fork(join(here, 'native.mjs'), [moduleUrl, path], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [ready] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (ready !== 'ready') return void say('• llama.cpp could not be started, so no native column');
  return {
    /** @param {string} prompt @param {number} tokens @returns {Promise<Timed>} */
    async complete(prompt, tokens) {
      child.send({ prompt, tokens });
      return (await once(child, 'message'))[0];
    },
    stop: () => child.kill(),
  };
}

/** @param {Timed[]} timed */
function speeds(timed) {
  return {
    prompt: median(timed.map(({ promptTokens, promptMs }) => (promptTokens / promptMs) * 1000)),
    decode: median(timed.map(({ decodeTokens, decodeMs }) => (decodeTokens / decodeMs) * 1000)),
  };
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {Record<string, { prompt: number, decode: number }>} speed
 * @param {Record<string, string[]>} answers
 * @param {{ tag: any, cleanup: any }} tasks
 * @param {{ ours: number[], theirs: number[] }} loads
 * @param {number} peak @param {string} path @param {string} version
 */
function table(speed, answers, tasks, loads, peak, path, version) {
  say(`\n${basename(path)}, greedy, medians; wllama ${version}. Same answer: characters of ours until they differ, of all.`);
  say(`${''.padEnd(16)}${'prompt tok/s'.padStart(14)}${'decode tok/s'.padStart(14)}${'same answer'.padStart(16)}`);
  for (const [name, { prompt, decode }] of Object.entries(speed)) {
    const same = answers[name].map((answer, i) => common(answer, answers['fairhand 1'][i]));
    const all = answers['fairhand 1'].reduce((sum, answer) => sum + answer.length, 0);
    say(`${name.padEnd(16)}${prompt.toFixed(1).padStart(14)}${decode.toFixed(1).padStart(14)}${`${same.reduce((a, b) => a + b, 0)} of ${all}`.padStart(16)}`);
  }
  say(`\n${''.padEnd(24)}${'fairhand ms'.padStart(14)}${'wllama ms'.padStart(14)}`);
  const row = (/** @type {string} */ name, /** @type {number} */ a, /** @type {number} */ b) => say(`${name.padEnd(24)}${a.toFixed(0).padStart(14)}${b.toFixed(0).padStart(14)}`);
  row('tag, cold', tasks.tag.ours.cold, tasks.tag.theirs.cold);
  row('tag, prefix kept', tasks.tag.ours.warm, tasks.tag.theirs.warm);
  if (tasks.cleanup) {
    row('cleanup, cold', tasks.cleanup.ours.cold, tasks.cleanup.theirs.cold);
    row('cleanup, prefix kept', tasks.cleanup.ours.warm, tasks.cleanup.theirs.warm);
  }
  row('load to first token', median(loads.ours), median(loads.theirs));
  say(`peak memory of the module ${bytes(peak)}, the file ${bytes(statSync(path).size)}`);
}

/** @param {string} a @param {string} b */
function common(a, b) {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}
