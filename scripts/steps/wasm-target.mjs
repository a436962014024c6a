// A compiler for wasm32-unknown-unknown: rustup's, else Debian's packages with the standard library built from source.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall, capture, status } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

const triple = 'wasm32-unknown-unknown';
const debianPackages = ['rustc-web', 'cargo-web', 'rust-web-src', 'lld-22'];
// RUSTC_BOOTSTRAP lets a stable compiler take it.
const buildStd = ['-Zbuild-std=std,panic_abort'];

/** @typedef {{ cargo: string, args: string[], env: Record<string, string>, from: string }} WasmCompiler */

/** @type {() => Promise<WasmCompiler>} */
export const wasmTarget = step(`Rust for ${triple}`, {
  find: () => rustupTarget() ?? debianTarget(),
  work: 'adding the target with rustup, else installing Debian\'s rustc-web',
  async make() {
    if ((await status('rustup', ['target', 'add', triple], { aside: true })) === 0) return;
    await aptInstall(debianPackages);
  },
  advice: `Run \`rustup target add ${triple}\`, or as root \`apt-get install ${debianPackages.join(' ')}\`, then run the command again.`,
  describe: ({ from }) => from,
});

/**
 * The same, for a module that runs on several threads: their standard library has atomics, and is built from source.
 * @type {() => Promise<WasmCompiler>}
 */
export const wasmThreadsTarget = step(`Rust for ${triple} with threads`, {
  find: () => rustupSource() ?? debianTarget(),
  work: 'adding the standard library\'s source with rustup, else installing Debian\'s rustc-web',
  async make() {
    if ((await status('rustup', ['component', 'add', 'rust-src'], { aside: true })) === 0) return;
    await aptInstall(debianPackages);
  },
  advice: `Run \`rustup component add rust-src\`, or as root \`apt-get install ${debianPackages.join(' ')}\`, then run the command again.`,
  describe: ({ from }) => from,
});

/** @returns {WasmCompiler | undefined} */
function rustupSource() {
  const sysroot = capture('rustc', ['--print', 'sysroot']);
  if (!sysroot || !existsSync(join(sysroot, 'lib', 'rustlib', 'src', 'rust', 'library', 'std'))) return undefined;
  const from = `${capture('rustc', ['--version'])}, with the standard library built from source`;
  return { cargo: 'cargo', args: buildStd, env: { RUSTC_BOOTSTRAP: '1' }, from };
}

/** @returns {WasmCompiler | undefined} */
function rustupTarget() {
  const sysroot = capture('rustc', ['--print', 'sysroot']);
  if (!sysroot || !hasStandardLibrary(join(sysroot, 'lib', 'rustlib', triple, 'lib'))) return undefined;
  return { cargo: 'cargo', args: [], env: {}, from: `the target of ${capture('rustc', ['--version'])}` };
}

/** @param {string} folder */
function hasStandardLibrary(folder) {
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('libstd-'));
}

/** @returns {WasmCompiler | undefined} */
function debianTarget() {
  const [rustc, cargo, linker] = ['/usr/bin/rustc', '/usr/bin/cargo', '/usr/bin/wasm-ld-22'];
  if (![rustc, cargo, linker].every((path) => existsSync(path))) return undefined;
  const sysroot = capture(rustc, ['--print', 'sysroot']);
  if (!sysroot || !existsSync(join(sysroot, 'lib', 'rustlib', 'src', 'rust', 'library', 'std'))) return undefined;
  return {
    cargo,
    args: buildStd,
    env: { RUSTC: rustc, RUSTC_BOOTSTRAP: '1', CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker },
    from: `Debian's ${capture(rustc, ['--version'])}, with the standard library built from source`,
  };
}
