// Regenerates tests/data/tokenizer/ with llama.cpp: npm i -E node-llama-cpp@3.21.1 somewhere, and from there: node …/tests/oracle/tokens.mjs MODEL.gguf
//
//   smollm2.json         tokens of each text of strings.mjs for SmolLM2, read as text and with control tokens parsed
//   pre-tokenizers.json  for each kind of pre-tokenizer, a hash of the tokens of each of those texts in a made-up
//                        vocabulary whose merges show where words are cut
//   sentencepiece.json   tokens of each of those texts in a made-up SentencePiece vocabulary
//   chat.json            conversations as SmolLM2's template writes them, with their tokens
//   templates.json       what Hugging Face's Jinja makes of templates/ok_*.jinja

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { conversations, strings } from "./strings.mjs";
import { pairVocabulary, piecesVocabulary, preTokenizers } from "./vocabularies.mjs";
import { writeGguf } from "./gguf.mjs";

const require = createRequire(join(process.cwd(), "package.json"));
const { getLlama } = await import(pathToFileURL(require.resolve("node-llama-cpp")));
const { Template } = await import(pathToFileURL(require.resolve("@huggingface/jinja")));
const [model = ""] = process.argv.slice(2);
if (!model) throw new Error("usage: node tokens.mjs MODEL.gguf");
const data = fileURLToPath(new URL("../data/tokenizer/", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "tokens-"));
const llama = await getLlama({ gpu: false, build: "never", logLevel: "disabled" });

// What a file says, one row a line, so that a change shows as one.
const save = (name, rows) => writeFileSync(join(data, name), `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);

const vocabularyOf = async (metadata) => {
  const path = join(scratch, "vocabulary.gguf");
  writeFileSync(path, writeGguf(metadata));
  return llama.loadModel({ modelPath: path, vocabOnly: true });
};

// FNV-1a of the ids as little-endian 32-bit numbers.
const hash = (ids) => {
  let h = 0x811c9dc5;
  for (const id of ids) for (let shift = 0; shift < 32; shift += 8) h = Math.imul(h ^ ((id >>> shift) & 255), 0x01000193) >>> 0;
  return h;
};

const smollm2 = await llama.loadModel({ modelPath: model, vocabOnly: true });
const same = (a, b) => a.length === b.length && a.every((id, i) => id === b[i]);
save("smollm2.json", strings.map((text) => {
  const ids = smollm2.tokenize(text);
  const parsed = smollm2.tokenize(text, true);
  return same(ids, parsed) ? { text, ids } : { text, ids, parsed };
}));
const ends = [...smollm2.iterateAllTokens()].filter((id) => smollm2.isEogToken(id));
console.log("SmolLM2 ends a generation with", ends);

const template = new Template(smollm2.fileInfo.metadata.tokenizer.chat_template);
save("chat.json", conversations.map((messages) => {
  const text = template.render({ messages, add_generation_prompt: true, bos_token: "<|im_start|>", eos_token: "<|im_end|>" });
  return { messages, text, ids: smollm2.tokenize(text, true) };
}));
await smollm2.dispose();

const messages = [
  { role: "system", content: "  You clean up transcripts. " },
  { role: "user", content: " Hi, can you hear me?\n" },
  { role: "assistant", content: "Yes, I can!" },
  { role: "user", content: "Wie geht's dir, \"Zoë\"? <b>" },
];
const templates = readdirSync(join(data, "templates")).filter((name) => name.startsWith("ok_"));
save("templates.json", templates.sort().map((name) => {
  const source = readFileSync(join(data, "templates", name), "utf8");
  return { name, messages, text: new Template(source).render({ messages, add_generation_prompt: true, bos_token: "<s>", eos_token: "</s>", tools: null }) };
}));

const rows = [];
for (const pre of preTokenizers) {
  const vocabulary = await vocabularyOf(pairVocabulary(pre));
  rows.push({ pre, hashes: strings.map((text) => hash(vocabulary.tokenize(text))) });
  await vocabulary.dispose();
}
save("pre-tokenizers.json", rows);

const pieces = await vocabularyOf(piecesVocabulary(true));
const bare = await vocabularyOf(piecesVocabulary(false));
save("sentencepiece.json", strings.map((text) => ({ text, ids: pieces.tokenize(text), withoutSpace: bare.tokenize(text) })));

rmSync(scratch, { recursive: true });
process.exit(0);
