// Writes llama.cpp's logits for small models of random weights, of every family and format, for tests/model_families.rs.
//
//   npm run cargo -- run --release --example tiny_models -- DIRECTORY       (in the checkout)
//   npm install -E node-llama-cpp@3.21.1                                    (in any directory outside the checkout)
//   node tests/oracle/families.mjs DIRECTORY tests/data/model/families.json (from that directory)
//
// What llama.cpp gives out are probabilities, so the logits are known up to a constant: what is written are natural
// logarithms of the probabilities of the whole vocabulary, in the order of its ids, after some of the tokens.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [directory, outputPath] = process.argv.slice(2);
if (outputPath === undefined) {
  console.error("usage: node families.mjs DIRECTORY OUTPUT.json");
  process.exit(2);
}

// Installed where this is run from, not beside this file.
const local = createRequire(path.join(process.cwd(), "index.js"));
const { getLlama } = await import(pathToFileURL(local.resolve("node-llama-cpp")).href);

const TOKENS = Array.from({ length: 40 }, (_, i) => 3 + ((i * 37 + i * i * 11) % 261));
const AFTER = [0, 9, 39];

const llama = await getLlama({ gpu: false, build: "never", progressLogs: false });
const WANT = { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } };

const models = [];
for (const name of fs.readdirSync(directory).filter((name) => name.endsWith(".gguf")).sort()) {
  const modelPath = path.join(directory, name);
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({
    contextSize: 256,
    threads: 1,
    flashAttention: false,
    experimentalKvCacheKeyType: "F32",
    experimentalKvCacheValueType: "F32",
  });
  const input = TOKENS.map((token, i) => (AFTER.includes(i) ? [token, WANT] : token));
  const outputs = await context.getSequence().controlledEvaluate(input);
  const logits = AFTER.map((i) => {
    const byId = new Map(outputs[i].next.probabilities);
    return Array.from({ length: byId.size }, (_, id) => Math.round(Math.log(byId.get(id)) * 1e5) / 1e5);
  });
  models.push({ name: path.basename(name, ".gguf"), logits });
  await context.dispose();
  await model.dispose();
  console.error(name);
}

const line = (value) => JSON.stringify(value);
fs.writeFileSync(
  outputPath,
  `{\n"source": "node-llama-cpp 3.21.1",\n"tokens": ${line(TOKENS)},\n"after": ${line(AFTER)},\n` +
    `"models": [\n${models.map(line).join(",\n")}\n]\n}\n`,
);
process.exit(0);
