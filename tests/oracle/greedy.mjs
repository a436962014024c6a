// Writes the greedy tokens of llama.cpp, for tests/model_greedy.rs to hold the forward pass against.
//
//   npm install -E node-llama-cpp@3.21.1        (in any directory outside the checkout)
//   node tests/oracle/greedy.mjs MODEL.gguf tests/data/model/NAME_greedy.json         (from that directory)
//
// Products with 4-bit weights round activations to 8 bits, and a rounding that tips over in the first layer has moved
// every logit by the last. So two faithful implementations differ, and so does llama.cpp from itself when its cache holds
// f32 in place of f16, or when its attention is the fused kernel. How much it differs from itself is the numeric noise
// that a difference from it may have; this script measures that too:
//
// 1. the reference run (llama.cpp's defaults on a CPU): 12 greedy tokens after each prompt, end-of-text not heeded, and
//    for every step the runners-up with their distance below the best, in nats (= logits);
// 2. each variant is fed the same tokens; what it does to the gap between the reference's best two is recorded, and how
//    often its own best is another one.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modelPath, outputPath] = process.argv.slice(2);
if (outputPath === undefined) {
  console.error("usage: node greedy.mjs MODEL.gguf OUTPUT.json");
  process.exit(2);
}

// Installed where this is run from, not beside this file.
const local = createRequire(path.join(process.cwd(), "index.js"));
const { getLlama } = await import(pathToFileURL(local.resolve("node-llama-cpp")).href);

const STEPS = 12;
const RUNNERS_UP = 3;

const REFERENCE = { name: "f16 cache", cache: "F16", flashAttention: false };
const VARIANTS = [
  { name: "f32 cache", cache: "F32", flashAttention: false },
  { name: "f16 cache, fused attention", cache: "F16", flashAttention: true },
];

const PLAIN = [
  "The capital of France is",
  "Once upon a time, in a small village by the sea, there lived",
  "def fibonacci(n):\n    ",
  "Dear Ms. Alvarez,\n\nThank you for",
  "1, 2, 3, 4, 5,",
  "Photosynthesis is the process by which",
  "Q: What is the boiling point of water?\nA:",
  "um so i was thinking we should uh move the meeting to thursday because",
  "# Shopping list\n- milk\n- eggs\n-",
  "La tour Eiffel se trouve à",
  '{"name": "Ada", "age": 36, "city":',
  "In 1969, Apollo 11",
  "The quick brown fox jumps over the lazy dog. The quick brown fox",
  "Emoji and signs: 🎉 ½ € → naïve café, and then",
];

const CHAT = [
  ["What should I cook tonight? I have rice, eggs and spinach."],
  ["Clean up this transcript: um so like the the budget is is due on friday and uh sarah will send it"],
  ["List the tasks in this note: call the plumber, water the plants, and book flights for June."],
  ["Break this task into three small steps: prepare the quarterly report."],
  ["Tag this note with one word: The server was down for two hours because the disk was full."],
  ["Write a haiku about rain."],
  ["Explain recursion to a ten year old.", "You are a patient teacher."],
  ["Translate to Spanish: Where is the train station?", "You are a translator. Answer with the translation only."],
  ["hi"],
  ["Is 17 a prime number? Answer yes or no and say why."],
];

// Openings and subjects, each with each: with those above, more than a hundred prompts.
const OPENINGS = [
  "The history of",
  "Notes from the meeting about",
  "Three reasons to care about",
  "Question: how does one begin with",
  "TODO list for",
  "In my opinion,",
  "Die Geschichte von",
  "So, um, about",
];
const SUBJECTS = [
  "bicycles",
  "the school garden",
  "tax law",
  "rain",
  "sourdough bread",
  "a broken printer",
  "Mount Everest",
  "the quarterly budget",
  "jazz",
  "house cats",
];

const llama = await getLlama({ gpu: false, build: "never", progressLogs: false });
const model = await llama.loadModel({ modelPath });

const SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
/** The chat formats of the models that this has been run for, by architecture. */
const CHAT_TEXT = {
  llama: ([user, system = SYSTEM]) =>
    `<|im_start|>system\n${system}<|im_end|>\n<|im_start|>user\n${user}<|im_end|>\n<|im_start|>assistant\n`,
  gemma3: ([user, system]) =>
    `<bos><start_of_turn>user\n${system ? `${system}\n\n` : ""}${user}<end_of_turn>\n<start_of_turn>model\n`,
};
const architecture = model.fileInfo.metadata.general.architecture;
/** What starts every text. */
const START = { llama: "", gemma3: "<bos>" }[architecture];

const plain = [...PLAIN, ...OPENINGS.flatMap((opening) => SUBJECTS.map((subject) => `${opening} ${subject}`))];
const texts = [...plain.map((text) => START + text), ...CHAT.map(CHAT_TEXT[architecture])];

// The best few are enough, and differences between them are those of the logits however few they are.
const WANT = { generateNext: { probabilities: true, options: { temperature: 1, topK: 40, topP: 1, minP: 0 } } };

/** Log-probabilities, among the best 40, of what follows `tokens`, best first. */
async function next(sequence, tokens) {
  const input = tokens.map((token, i) => (i + 1 < tokens.length ? token : [token, WANT]));
  const outputs = await sequence.controlledEvaluate(input);
  return [...outputs.at(-1).next.probabilities].map(([token, p]) => [token, Math.log(p)]);
}

/** Runs `body` with a sequence of an own context, set up as `options` say. */
async function withSequence({ cache, flashAttention }, body) {
  const context = await model.createContext({
    contextSize: 512,
    threads: 1, // more only spin where cores are busy, and the sums are the same
    flashAttention,
    experimentalKvCacheKeyType: cache,
    experimentalKvCacheValueType: cache,
  });
  const result = await body(context.getSequence());
  await context.dispose();
  return result;
}

const round = (x) => Math.round(x * 1e4) / 1e4;

const cases = [];
for (const text of texts) {
  const prompt = [...model.tokenize(text, true)];
  const steps = await withSequence(REFERENCE, async (sequence) => {
    const steps = [];
    let feed = prompt;
    while (steps.length < STEPS) {
      const [best, ...others] = await next(sequence, feed);
      steps.push({
        token: best[0],
        runnersUp: others.slice(0, RUNNERS_UP).map(([token, logp]) => [token, round(best[1] - logp)]),
      });
      feed = [best[0]];
    }
    return steps;
  });
  cases.push({ text, prompt, steps });
  console.error(`reference ${cases.length}/${texts.length}`);
}

const variants = [];
for (const variant of VARIANTS) {
  const shifts = [];
  const gapsWhereDifferent = [];
  for (const { prompt, steps } of cases) {
    await withSequence(variant, async (sequence) => {
      let feed = prompt;
      for (const { token, runnersUp } of steps) {
        const ranked = await next(sequence, feed);
        const logp = new Map(ranked);
        const [second, gap] = runnersUp[0];
        shifts.push(Math.abs(logp.get(token) - logp.get(second) - gap));
        const winner = ranked[0][0];
        if (winner !== token) gapsWhereDifferent.push(runnersUp.find(([id]) => id === winner)?.[1] ?? null);
        feed = [token];
      }
    });
  }
  shifts.sort((a, b) => a - b);
  const quantile = (q) => round(shifts[Math.min(shifts.length - 1, Math.floor(q * shifts.length))]);
  variants.push({
    name: variant.name,
    gapShift: { median: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), max: quantile(1) },
    gapsWhereDifferent: gapsWhereDifferent.sort((a, b) => a - b),
  });
  console.error(variants.at(-1));
}

const line = (value) => JSON.stringify(value);
fs.writeFileSync(
  outputPath,
  `{\n"source": "node-llama-cpp 3.21.1, ${path.basename(modelPath)}",\n"reference": ${line(REFERENCE.name)},\n` +
    `"variants": [\n${variants.map(line).join(",\n")}\n],\n"cases": [\n${cases.map(line).join(",\n")}\n]\n}\n`,
);
process.exit(0);
