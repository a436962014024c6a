// Pythons of our own in the cache, for tools that travel as Python packages.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from './paths.mjs';
import { capture, status } from './run.mjs';
import { say } from './step.mjs';

/**
 * A Python in the cache with some modules, installed when they are missing. Undefined where there is no Python with venv,
 * or where they could not be installed.
 * @param {string} name of its folder in the cache
 * @param {string} modules what to import, as Python writes it: `a, b`
 * @param {string[][]} installs what pip is to install, one call after another
 */
export async function pythonWith(name, modules, installs) {
  const folder = join(cache, name);
  const python = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python3');
  const system = ['python3', 'python'].find((command) => capture(command, ['--version']));
  if (!existsSync(python) && (!system || (await status(system, ['-m', 'venv', folder], { aside: true })) !== 0)) return undefined;
  const ready = () => capture(python, ['-c', `import ${modules}`]) !== undefined;
  if (!ready()) {
    say(`• installing ${installs.flat().filter((word) => !word.startsWith('-')).join(', ')} with pip …`);
    for (const packages of installs) await status(python, ['-m', 'pip', 'install', '--quiet', ...packages], { aside: true });
  }
  return ready() ? python : undefined;
}
