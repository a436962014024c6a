// What this browser can do, asked of the browser itself.
import type { Capabilities } from './types.js';

// The smallest modules that use a feature: one function that computes a vector, refused where that is unknown.
const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const vectorFunction = [1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0]; // type () → v128; function 0 has it
const zeros = [0x41, 0, 0xfd, 0x0f]; // i32.const 0, i8x16.splat
const popcount = [0xfd, 0x62]; // i8x16.popcnt
const relaxedSwizzle = [0xfd, 0x80, 0x02]; // i8x16.relaxed_swizzle
const simdModule = moduleOf([...zeros, ...popcount]);
const relaxedModule = moduleOf([...zeros, ...zeros, ...relaxedSwizzle]);

function moduleOf(body: number[]): Uint8Array<ArrayBuffer> {
  const code = [0, ...body, 0x0b]; // no locals, the body, end
  return new Uint8Array([...header, ...vectorFunction, 10, code.length + 2, 1, code.length, ...code]);
}

const PAGE = 65_536;

/** Whether the module with relaxed SIMD can run. */
export function relaxedSimd(): boolean {
  return typeof WebAssembly === 'object' && WebAssembly.validate(relaxedModule);
}

export function capabilities(): Capabilities {
  const wasm = typeof WebAssembly === 'object';
  const simd = wasm && WebAssembly.validate(simdModule);
  const relaxed = relaxedSimd();
  const crossOriginIsolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated ?? false;
  const threads = wasm && crossOriginIsolated && typeof SharedArrayBuffer === 'function';
  const opfs = typeof navigator === 'object' && typeof navigator.storage?.getDirectory === 'function';
  const reasons: string[] = [];
  if (!wasm) reasons.push('WebAssembly is missing or switched off.');
  else if (!simd) reasons.push('WebAssembly SIMD is missing: this browser cannot run the engine.');
  if (simd && !relaxed) reasons.push('Relaxed SIMD is missing: the engine runs, slower.');
  if (!threads) reasons.push('The page is not cross-origin isolated: the engine runs on one thread.');
  if (!opfs) reasons.push('There is no private file system: a model is kept only as the browser sees fit.');
  return { simd, relaxedSimd: relaxed, threads, crossOriginIsolated, opfs, maxMemoryBytes: wasm ? maxMemory() : 0, reasons };
}

/** A memory's maximum is only reserved, so asking costs nothing. */
function maxMemory(): number {
  for (let pages = PAGE; pages >= 256; pages /= 2) {
    try {
      new WebAssembly.Memory({ initial: 0, maximum: pages });
      return pages * PAGE;
    } catch {
      // Refused: try half of it.
    }
  }
  return 0;
}
