// What the benchmark compares with: wllama in the browser, llama.cpp natively, and the same model in wllama's best formats.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Failure } from '../../scripts/lib/fail.mjs';
import { cache } from '../../scripts/lib/paths.mjs';
import { pythonWith } from '../../scripts/lib/python.mjs';
import { run, status } from '../../scripts/lib/run.mjs';
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
  const python = await pythonWith('bench/venv', 'gguf', [pinned.pip]);
  if (!python) throw new Failure('Install Python 3 with venv, with which the model is written in other formats, then run the command again.');
  say(`• writing the model as ${format} …`);
  await run(python, [fileURLToPath(new URL('requantise.py', import.meta.url)), model, `${path}.part`, format]);
  renameSync(`${path}.part`, path);
  return path;
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
