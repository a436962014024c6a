// What the benchmark compares with: wllama in the browser, llama.cpp natively, and the same model in wllama's best formats.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure } from '../../scripts/lib/fail.mjs';
import { cache } from '../../scripts/lib/paths.mjs';
import { capture, run, status } from '../../scripts/lib/run.mjs';
import { say } from '../../scripts/lib/step.mjs';

const pinned = JSON.parse(readFileSync(new URL('peers.json', import.meta.url), 'utf8'));
const folder = join(cache, 'bench');

/** The folder of wllama's own files, and its version. */
export async function wllama() {
  const [name, version] = Object.entries(pinned.npm)[0];
  const at = join(folder, 'node_modules', name);
  if (installed(at) !== version) await install([`${name}@${version}`]);
  return { folder: join(at, 'esm'), version };
}

/** The module of node-llama-cpp; undefined, with a word about it, where it has no binary. */
export async function native() {
  const [name, version] = Object.entries(pinned.native)[0];
  const binary = pinned.nativeBinary[`${process.platform}-${process.arch}`];
  if (!binary) return void say('• llama.cpp: no binary for this processor, so no native column');
  if (installed(join(folder, 'node_modules', name)) !== version || !installed(join(folder, 'node_modules', binary))) {
    // Without its optional packages, which are hundreds of megabytes for graphics cards.
    await install([`${name}@${version}`, `${binary}@${version}`]);
  }
  return pathToFileURL(createRequire(join(folder, 'index.js')).resolve(name)).href;
}

/** The model's file in another format, made once. @param {string} model @param {string} format */
export async function requantised(model, format) {
  const path = join(folder, `${basename(model, '.gguf')}.as-${format}.gguf`);
  if (existsSync(path)) return path;
  const python = await pythonWithGguf();
  say(`• writing the model as ${format} …`);
  await run(python, [join(dirname(new URL(import.meta.url).pathname), 'requantise.py'), model, `${path}.part`, format]);
  renameSync(`${path}.part`, path);
  return path;
}

async function pythonWithGguf() {
  const venv = join(folder, 'venv');
  const python = join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python3');
  if (capture(python, ['-c', 'import gguf']) !== undefined) return python;
  const system = ['python3', 'python'].find((name) => capture(name, ['--version']));
  if (!system) throw new Failure('Install Python 3, with which the model is written in other formats, then run the command again.');
  await run(system, ['-m', 'venv', venv]);
  await run(python, ['-m', 'pip', 'install', '--quiet', ...pinned.pip]);
  return python;
}

/** @param {string} at @returns {string | undefined} */
function installed(at) {
  const manifest = join(at, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** @param {string[]} packages */
async function install(packages) {
  mkdirSync(folder, { recursive: true });
  say(`• installing ${packages.join(' and ')} for comparison …`);
  const code = await status('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--omit=optional', '--ignore-scripts', '-E', ...packages], { aside: true });
  if (code !== 0) throw new Failure(`npm could not install ${packages.join(' and ')}: check its message above.`);
}
