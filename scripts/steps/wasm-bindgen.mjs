// wasm-bindgen's command line at exactly the version of the crate: the two speak a private format to each other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache, root, toolsTarget } from '../lib/paths.mjs';
import { capture, run } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

const version = lockedVersion(readFileSync(join(root, 'Cargo.lock'), 'utf8'), 'wasm-bindgen');
const folder = join(cache, `wasm-bindgen-${version}`);
const advice = `Run \`cargo install wasm-bindgen-cli --version ${version}\`, then run the command again.`;

/** The path of a wasm-bindgen of the crate's version. */
export const wasmBindgen = step(`wasm-bindgen ${version}`, {
  find: () =>
    [join(folder, 'bin', 'wasm-bindgen'), 'wasm-bindgen'].find(
      (path) => capture(path, ['--version']) === `wasm-bindgen ${version}`,
    ),
  work: 'compiling it once (some minutes)',
  make: () =>
    run(
      'cargo',
      ['install', 'wasm-bindgen-cli', '--version', `=${version}`, '--root', folder, '--target-dir', toolsTarget],
      { advice },
    ),
  advice,
  describe: (path) => path,
});

/**
 * The version that a Cargo.lock pins for a package.
 * @param {string} lock the lock file's text
 * @param {string} name
 */
export function lockedVersion(lock, name) {
  const entry = lock.split('[[package]]').find((text) => text.includes(`\nname = "${name}"\n`));
  const found = entry && /^version = "([^"]+)"$/m.exec(entry);
  if (!found) throw new Error(`Cargo.lock does not name ${name}`);
  return found[1];
}
