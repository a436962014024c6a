// A process that answers from native llama.cpp with one thread: node native.mjs MODULE MODEL. Messages in, times out.
import process from 'node:process';

const [moduleUrl, modelPath] = process.argv.slice(2);
const { getLlama, LlamaLogLevel } = await import(moduleUrl);
const llama = await getLlama({ gpu: false, maxThreads: 1, build: 'never', logLevel: LlamaLogLevel.error, progressLogs: false });
const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
const context = await model.createContext({ contextSize: 2048, threads: 1, batchSize: 512 });
const sequence = context.getSequence();

process.on('message', async (/** @type {{ prompt: string, tokens: number }} */ { prompt, tokens }) => {
  const input = model.tokenize(prompt);
  await sequence.clearHistory();
  const start = performance.now();
  let first = 0;
  let count = 0;
  const made = [];
  for await (const token of sequence.evaluate(input, { temperature: 0, yieldEogToken: true })) {
    if (count++ === 0) first = performance.now();
    made.push(token);
    if (count === tokens) break;
  }
  const end = performance.now();
  process.send?.({ promptTokens: input.length, promptMs: first - start, decodeTokens: count - 1, decodeMs: end - first, text: model.detokenize(made) });
});
process.send?.('ready');
