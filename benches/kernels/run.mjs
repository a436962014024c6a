// node benches/kernels/run.mjs [plain] [relaxed]: the kernels in headless Chromium, every product checked.
//
// Prints multiply-adds per second by format and number of activations, and how fast weights stream through one
// activation from memory. The best of many runs counts, since the machine may have other work. `plain` is the SIMD of the
// package, and the default; the first build for `relaxed` compiles every dependency again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../scripts/lib/browser.mjs';
import { main, Failure } from '../../scripts/lib/fail.mjs';
import { root, target } from '../../scripts/lib/paths.mjs';
import { run } from '../../scripts/lib/run.mjs';
import { wasmTarget } from '../../scripts/steps/wasm-target.mjs';

const formats = ['Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q8_0', 'Q4_K', 'Q5_K', 'Q6_K'];
await main(async () => {
  const variants = process.argv.length > 2 ? process.argv.slice(2) : ['plain'];
  const unknown = variants.find((variant) => !['plain', 'relaxed'].includes(variant));
  if (unknown) throw new Failure(`There is no variant \`${unknown}\`: say plain or relaxed.`);
  const browser = await launch();
  try {
    for (const variant of variants) {
      const binary = readFileSync(await build(variant)).toString('base64');
      const page = await browser.newPage();
      console.log(`${variant} SIMD, billions of multiply-adds a second`);
      for (const format of formats.keys()) {
        const cached = [];
        for (const n of [1, 2, 4, 8, 16]) cached.push(await page.evaluate(measure, { binary, format, rows: 1536, columns: 512, n }));
        const streamed = await page.evaluate(measure, { binary, format, rows: 200_000, columns: 512, n: 1 });
        const all = [...cached, streamed];
        if (!all.every((result) => result.right)) throw new Failure(`A product of ${formats[format]} differs from its definition.`);
        const speeds = cached.map(({ n, speed }) => `n=${n} ${speed.toFixed(1)}`).join('  ');
        console.log(`${formats[format]}  ${speeds}  from memory ${streamed.speed.toFixed(1)} (${streamed.bandwidth.toFixed(1)} GB/s)`);
      }
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

/** @param {string} variant */
async function build(variant) {
  const { cargo, args, env } = await wasmTarget();
  let targetDir = process.env.CARGO_TARGET_DIR ?? target;
  /** @type {Record<string, string>} */
  const flags = {};
  if (variant === 'relaxed') {
    // As .cargo/config.toml, and one feature more; elsewhere, so that the two do not replace each other's dependencies.
    flags.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS =
      '--cfg getrandom_backend="wasm_js" -C target-feature=+simd128,+relaxed-simd';
    targetDir = join(targetDir, 'relaxed');
  }
  await run(
    cargo,
    ['build', '--package', 'kernels-bench', '--target', 'wasm32-unknown-unknown', '--profile', 'wasm-release', ...args],
    { cwd: root, env: { ...env, ...flags, CARGO_TARGET_DIR: targetDir } },
  );
  return join(targetDir, 'wasm32-unknown-unknown', 'wasm-release', 'kernels_bench.wasm');
}

/**
 * Runs in the page.
 * @param {{ binary: string, format: number, rows: number, columns: number, n: number }} work
 */
function measure({ binary, format, rows, columns, n }) {
  const bytes = Uint8Array.from(atob(binary), (character) => character.charCodeAt(0));
  const module = new WebAssembly.Module(bytes);
  /** @type {WebAssembly.Imports} */
  const imports = {};
  // Nothing that a product runs through calls into JavaScript.
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === 'function') (imports[from] ??= {})[name] = () => { throw new Error(`${name} was called`); };
  }
  const { prepare, multiply, is_right } = /** @type {any} */ (new WebAssembly.Instance(module, imports).exports);
  const size = prepare(format, rows, columns, n);
  const times = Math.ceil(6e7 / (rows * columns * n)); // some milliseconds: the clock's step is a tenth of one
  let best = Infinity;
  for (let i = 0; i < 30; i++) {
    const start = performance.now();
    multiply(times);
    if (i > 3) best = Math.min(best, performance.now() - start);
  }
  return { n, right: Boolean(is_right()), speed: (rows * columns * n * times) / best / 1e6, bandwidth: (size * times) / best / 1e6 };
}
