// A compiler for wasm32-unknown-unknown: rustup's, else Debian's. Both build the standard library from its source.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall, capture, status } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

const triple = 'wasm32-unknown-unknown';
const debianPackages = ['rustc-web', 'cargo-web', 'rust-web-src', 'lld-22'];
// From source, since the one that rustup has is without atomics, which a module with threads needs, and with sorts that
// are a twentieth of a module: written for speed, and copied for each type that is sorted. RUSTC_BOOTSTRAP lets a stable
// compiler take these options.
const buildStd = ['-Zbuild-std=std,panic_abort', '-Zbuild-std-features=optimize_for_size'];

/** @typedef {{ cargo: string, args: string[], env: Record<string, string>, from: string }} WasmCompiler */

/** @type {() => Promise<WasmCompiler>} */
export const wasmTarget = step(`Rust for ${triple}`, {
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
