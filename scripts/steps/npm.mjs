// The npm packages of the lock file: the TypeScript compiler, wasm-opt, the file server, the browser driver.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { run } from '../lib/run.mjs';
import { step } from '../lib/step.mjs';

// Written after a complete install: the digest of the lock file that it followed.
const stamp = join(root, 'node_modules', '.fairhand-lock');
const digest = () => createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
const advice = 'Check that npm reaches its registry (`npm ping`), then run the command again.';

export const npmPackages = step('npm packages', {
  find() {
    try {
      return readFileSync(stamp, 'utf8') === digest() ? true : undefined;
    } catch {
      return undefined;
    }
  },
  work: 'installing what package-lock.json names (npm ci)',
  async make() {
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, advice });
    writeFileSync(stamp, digest());
  },
  advice,
});
