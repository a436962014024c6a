// Cargo and the environment it runs in: the cache as its target directory, and the processor's fast instructions.
import { readFileSync } from 'node:fs';
import { target } from '../lib/paths.mjs';
import { capture } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

export const rust = step('Rust', {
  find: () => capture('cargo', ['--version']),
  work: '',
  advice: 'Install Rust 1.91 or newer (https://rustup.rs), then run the command again.',
  describe: (version) => version,
});

/** The environment for cargo's native runs. A build for AVX2 on a processor without it would crash, so it is asked. */
export function cargoEnvironment() {
  /** @type {Record<string, string>} */
  const env = {
    CARGO_TARGET_DIR: process.env.CARGO_TARGET_DIR ?? target,
    // Property tests draw the same cases every time, so that a change passes or fails for its own sake. Hunt for new
    // faults with another seed: PROPTEST_RNG_SEED=$RANDOM npm test -- cargo
    PROPTEST_RNG_SEED: process.env.PROPTEST_RNG_SEED ?? '1',
  };
  const flags = 'CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS';
  if (!process.env[flags] && hasAvx2()) env[flags] = '-C target-feature=+avx2,+fma';
  return env;
}

function hasAvx2() {
  try {
    const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1].split(/\s+/) ?? [];
    return flags.includes('avx2') && flags.includes('fma');
  } catch {
    return false;
  }
}
