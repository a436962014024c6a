// What the benchmark runs inside the page: both engines behind one small interface, timed from outside.
/**
 * @typedef {{ promptTokens: number, promptMs: number, decodeTokens: number, decodeMs: number, text: string }} Timed
 * @typedef {{ complete(prompt: string, tokens: number): Promise<Timed>, call(name: string, text: string): Promise<{ ms: number, answer: unknown }>, close(): Promise<void> }} Contestant
 */
/** @type {Map<string, Contestant>} */
const contestants = new Map();

/** @param {string} name @param {{ kind: 'ours' | 'wllama', model: string, threads: number }} what */
export async function load(name, { kind, model, threads }) {
  contestants.set(name, kind === 'ours' ? await ours(model, threads) : await theirs(model, threads));
}

/** @param {string} name @param {string} prompt @param {number} tokens */
export function complete(name, prompt, tokens) {
  return get(name).complete(prompt, tokens);
}

/** @param {string} name @param {string} task @param {string} text */
export function call(name, task, text) {
  return get(name).call(task, text);
}

/** @param {string} name */
export async function close(name) {
  await get(name).close();
  contestants.delete(name);
}

/** From nothing but the browser's cache to the first token. @param {{ kind: 'ours' | 'wllama', model: string, threads: number }} what */
export async function loadToFirstToken(what) {
  const start = performance.now();
  const contestant = what.kind === 'ours' ? await ours(what.model, what.threads) : await theirs(what.model, what.threads);
  await contestant.complete('Hello', 1);
  const ms = performance.now() - start;
  await contestant.close();
  return ms;
}

/** The module's memory after a load and an answer: it never shrinks, so this is its peak. @param {string} model */
export async function peakMemory(model) {
  const script = `
    import { load } from '${location.origin}/src/local.js';
    import { instantiate } from '${location.origin}/src/module.js';
    const engine = await load('${model}');
    await engine.complete({ prompt: 'Once upon a time', maxTokens: 8 });
    postMessage((await instantiate({})).memory.buffer.byteLength);`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
  const bytes = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
  });
  worker.terminate();
  return bytes;
}

/** @param {string} name */
function get(name) {
  const contestant = contestants.get(name);
  if (!contestant) throw new Error(`${name} is not loaded`);
  return contestant;
}

/** @param {string} model @param {number} threads @returns {Promise<Contestant>} */
async function ours(model, threads) {
  const { load } = await import(`${location.origin}/src/index.js`);
  const engine = await load(model, { threads });
  if (engine.info.threads !== threads) throw new Error(`${engine.info.threads} threads where ${threads} were asked for`);
  return {
    async complete(prompt, tokens) {
      const start = performance.now();
      let first = 0;
      const result = await engine.complete({
        prompt,
        maxTokens: tokens,
        sampling: { temperature: 0 },
        onToken: () => (first ||= performance.now()),
      });
      const end = performance.now();
      const { promptTokens, cachedTokens, completionTokens } = result.usage;
      first ||= end; // an answer without text
      return { promptTokens: promptTokens - cachedTokens, promptMs: first - start, decodeTokens: completionTokens - 1, decodeMs: end - first, text: result.text };
    },
    async call(task, text) {
      const start = performance.now();
      const answer = await (task === 'tag' ? engine.tagContent(text) : task === 'extract' ? engine.extractTasks(text) : engine.cleanup(text));
      return { ms: performance.now() - start, answer: task === 'tag' ? [answer.topic, answer.intent] : task === 'extract' ? answer.tasks : answer.text };
    },
    close: () => engine.dispose(),
  };
}

/** @param {string} model @param {number} threads @returns {Promise<Contestant>} */
async function theirs(model, threads) {
  const { Wllama, LoggerWithoutDebug } = await import(`${location.origin}/wllama/index.js`);
  const wllama = new Wllama({ default: `${location.origin}/wllama/wasm/wllama.wasm` }, { logger: LoggerWithoutDebug, suppressNativeLog: true });
  await wllama.loadModelFromUrl(model, { n_threads: threads, n_ctx: 2048, n_gpu_layers: 0, useCache: true, cache_idle_slots: false });
  const prompts = await (await fetch('/bench/prompts.json')).json();
  return {
    async complete(prompt, tokens) {
      const start = performance.now();
      let first = 0;
      let text = '';
      let timings;
      const stream = await wllama.createCompletion({ prompt, max_tokens: tokens, temperature: 0, stream: true, timings_per_token: true });
      for await (const chunk of stream) {
        first ||= performance.now();
        text += chunk.choices[0]?.text ?? '';
        timings = chunk.timings ?? timings;
      }
      const end = performance.now();
      // Their own counts; the clock is the page's for both.
      return { promptTokens: timings.prompt_n, promptMs: first - start, decodeTokens: timings.predicted_n - 1, decodeMs: end - first, text };
    },
    async call(task, text) {
      const { system, grammar, maxTokens } = prompts[task];
      const start = performance.now();
      const messages = [{ role: 'system', content: system }, { role: 'user', content: text }];
      const answer = await wllama.createChatCompletion({ messages, max_tokens: maxTokens, temperature: 0, cache_prompt: true, ...(grammar && { grammar }) });
      return { ms: performance.now() - start, answer: answer.choices[0].message.content };
    },
    close: () => wllama.exit(),
  };
}
