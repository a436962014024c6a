// Made-up vocabularies that show how a text is cut. tests/tokenizer_kinds.rs builds the same ones.

/** The printable character that stands for each byte in byte-level BPE. */
const byteCharacters = (() => {
  let next = 0x100;
  const printable = (b) => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
  return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(printable(b) ? b : next++));
})();

/** A permutation of the numbers below 65536, without a visible order. */
const shuffled = (x) => {
  x = Math.imul(x, 0x9e3b) & 0xffff;
  x ^= x >>> 7;
  x = Math.imul(x, 0x85eb) & 0xffff;
  x ^= x >>> 9;
  return x;
};

const general = {
  "general.architecture": ["string", "llama"],
  "llama.context_length": ["u32", 64],
  "llama.embedding_length": ["u32", 32],
  "llama.block_count": ["u32", 1],
  "llama.feed_forward_length": ["u32", 32],
  "llama.attention.head_count": ["u32", 1],
  "llama.attention.layer_norm_rms_epsilon": ["f32", 1e-5],
};

/**
 * Byte-level BPE of all bytes and all pairs of bytes. A pair is merged wherever it stands unless a better one is beside
 * it, so cutting a word in two changes its tokens about every second time. A few whole words have tokens that no merge
 * leads to, for the kinds that look for those first.
 */
export const pairVocabulary = (pre) => {
  const pairs = Array.from({ length: 65536 }, (_, rank) => shuffled(rank)).map((pair) => [byteCharacters[pair >> 8], byteCharacters[pair & 255]]);
  const tokens = [...byteCharacters, ...pairs.map(([a, b]) => a + b), "Hello", "Ġthe", "Ġworld", "123", "ĠĠĠ", "<|end|>"];
  return {
    ...general,
    "tokenizer.ggml.model": ["string", "gpt2"],
    "tokenizer.ggml.pre": ["string", pre],
    "tokenizer.ggml.tokens": ["string[]", tokens],
    "tokenizer.ggml.token_type": ["i32[]", tokens.map((_, id) => (id === tokens.length - 1 ? 3 : 1))],
    "tokenizer.ggml.merges": ["string[]", pairs.map(([a, b]) => `${a} ${b}`)],
    "tokenizer.ggml.bos_token_id": ["u32", tokens.length - 1],
    "tokenizer.ggml.eos_token_id": ["u32", tokens.length - 1],
  };
};

/** Kinds of pre-tokenizers, one name of each. */
export const preTokenizers = ["smollm", "gpt-2", "llama-bpe", "dbrx", "qwen2", "qwen35", "seed-coder", "deepseek-v3", "deepseek-coder", "falcon", "tekken", "gpt-4o", "default"];

/**
 * A SentencePiece vocabulary: unknown, beginning, end, the 256 bytes, then pieces of one, two and four characters over
 * a small alphabet with scores in no visible order, many of them equal, and three user-defined runs.
 */
export const piecesVocabulary = (addSpace) => {
  const alphabet = [..."▁abehlnorstw.'1é中🙂\n"];
  const twos = alphabet.flatMap((a) => alphabet.map((b) => a + b));
  const fours = twos.flatMap((a, i) => twos.filter((_, j) => shuffled(i * 512 + j) % 97 === 0).map((b) => a + b));
  const pieces = [...alphabet, ...twos, ...fours];
  const runs = ["<b>", "\t\t", "\t\t\t"];
  const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`);
  const tokens = ["<unk>", "<s>", "</s>", ...bytes, ...runs, ...pieces];
  const scores = [0, 0, 0, ...bytes.map(() => 0), ...runs.map(() => 0), ...pieces.map((_, i) => -(shuffled(i) % 1024))];
  const types = [2, 3, 3, ...bytes.map(() => 6), ...runs.map(() => 4), ...pieces.map(() => 1)];
  return {
    ...general,
    "tokenizer.ggml.model": ["string", "llama"],
    "tokenizer.ggml.pre": ["string", "default"],
    "tokenizer.ggml.tokens": ["string[]", tokens],
    "tokenizer.ggml.scores": ["f32[]", scores],
    "tokenizer.ggml.token_type": ["i32[]", types],
    "tokenizer.ggml.bos_token_id": ["u32", 1],
    "tokenizer.ggml.eos_token_id": ["u32", 2],
    "tokenizer.ggml.unknown_token_id": ["u32", 0],
    "tokenizer.ggml.add_space_prefix": ["bool", addSpace],
  };
};
