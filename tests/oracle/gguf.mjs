// A GGUF file of metadata alone, version 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

const u32 = (value) => { const b = Buffer.alloc(4); b.writeUInt32LE(value); return b; };
const u64 = (value) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(value)); return b; };
const f32 = (value) => { const b = Buffer.alloc(4); b.writeFloatLE(value); return b; };
const string = (value) => { const b = Buffer.from(value); return Buffer.concat([u64(b.length), b]); };

const scalars = {
  u32: [4, u32],
  i32: [5, (value) => { const b = Buffer.alloc(4); b.writeInt32LE(value); return b; }],
  f32: [6, f32],
  bool: [7, (value) => Buffer.from([value ? 1 : 0])],
  string: [8, string],
};

/** `metadata`: key to `[type, value]`; an array's type is written `type[]`. */
export const writeGguf = (metadata) => {
  const parts = [Buffer.from("GGUF"), u32(3), u64(0), u64(Object.keys(metadata).length)];
  for (const [key, [type, value]] of Object.entries(metadata)) {
    const [code, write] = scalars[type.replace("[]", "")];
    parts.push(string(key));
    if (type.endsWith("[]")) parts.push(u32(9), u32(code), u64(value.length), ...value.map(write));
    else parts.push(u32(code), write(value));
  }
  return Buffer.concat(parts);
};
