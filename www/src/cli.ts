#!/usr/bin/env node
// npx fairhand: transcripts on the command line, by the same engine as in a page.
import { load, loadCleaner, type CallProgress, type Cleaner, type Engine, type Transcript } from './local.js';
import { FairhandError } from './errors.js';
import { exported, FORMATS, type Format } from './export.js';
import { told } from './notices.js';

// Node's own types are not those of a browser's package, so what is used of Node is named here.
interface Node {
  readonly argv: string[];
  readonly env: Record<string, string | undefined>;
  readonly version: string;
  exitCode?: number | undefined;
  readonly stdout: { write(text: string): boolean; on(event: 'error', listener: (error: { code?: string }) => void): void };
  exit(status: number): never;
  readonly stderr: { write(text: string): boolean; isTTY?: boolean; columns?: number };
  readonly stdin: AsyncIterable<Uint8Array>;
  getBuiltinModule(name: 'node:fs'): {
    readFileSync(path: string): Uint8Array<ArrayBuffer>;
    writeFileSync(path: string, text: string): void;
    existsSync(path: string): boolean;
  };
}
const node = (globalThis as unknown as { process: Node }).process;

const HELP = `fairhand: what was said, as it would have been written

  fairhand clean FILE…      cleans transcripts: .txt, .srt, .vtt or a recogniser's .json; no model needed
  fairhand tag FILE         one topic and one intent of a note, as JSON
  fairhand extract FILE     the tasks that the speaker took on, as JSON
  fairhand decompose TASK   small steps towards a task, such as 'Plan the garden party', as JSON

FILE is a path, or - for standard input; so may TASK be -.

Options
  -o, --output PATH   where to write; - for standard output. clean writes NAME.clean.EXT beside FILE by default,
                      the others write to standard output
  -f, --format NAME   txt, md, srt, vtt or json; by default the format of FILE
  --level NAME        verbatim, light or clean (default): how much may be changed
  --preset NAME       default, email, notes or code
  --term TEXT         a spelling to use and never to delete; may be given again
  --language TAG      the spoken language, such as en; by default the text tells
  -m, --model PATH    a GGUF file or URL; by default $FAIRHAND_MODEL, which clean leaves alone. With one named to it
                      clean has the model choose what the rules leave open
  --force             writes over a file that is there
  -q, --quiet         no progress
  -h, --help          this text
  --version           the version

Exit status: 0 done; 1 a file could not be read, cleaned or written (the others are done); 2 the command line is
wrong; 3 the model could not be loaded.`;

/** A failure with its exit status. Its message is one sentence. */
class Exit extends Error {
  constructor(
    readonly status: 1 | 2 | 3,
    message: string,
  ) {
    super(message);
  }
}

interface Arguments {
  command: string;
  files: string[];
  output?: string;
  format?: Format;
  level?: string;
  preset?: string;
  terms: string[];
  language?: string;
  model?: string;
  force: boolean;
  quiet: boolean;
}

const WITH_VALUE: Record<string, 'output' | 'format' | 'level' | 'preset' | 'term' | 'language' | 'model'> = {
  '-o': 'output',
  '--output': 'output',
  '-f': 'format',
  '--format': 'format',
  '--level': 'level',
  '--preset': 'preset',
  '--term': 'term',
  '--language': 'language',
  '-m': 'model',
  '--model': 'model',
};
const COMMANDS = ['clean', 'tag', 'extract', 'decompose'];
const CHOICES: Record<string, readonly string[]> = {
  format: FORMATS,
  level: ['verbatim', 'light', 'clean'],
  preset: ['default', 'email', 'notes', 'code'],
};

function parse(argv: readonly string[]): Arguments {
  const parsed: Arguments = { command: '', files: [], terms: [], force: false, quiet: false };
  const words: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const [name = '', attached] = argv[i]!.startsWith('--') ? argv[i]!.split(/=(.*)/s) : [argv[i]!];
    const option = WITH_VALUE[name];
    if (option) {
      const value = attached ?? argv[++i];
      if (value === undefined) throw new Exit(2, `${name} needs a value.`);
      const choices = CHOICES[option];
      if (choices && !choices.includes(value)) throw new Exit(2, `${name} must be one of ${choices.join(', ')}.`);
      if (option === 'term') parsed.terms.push(value);
      else Object.assign(parsed, { [option]: value });
    } else if (name === '--force') parsed.force = true;
    else if (name === '-q' || name === '--quiet') parsed.quiet = true;
    else if (name.startsWith('-') && name !== '-') throw new Exit(2, `There is no option ${name}: see fairhand --help.`);
    else words.push(name);
  }
  const [command = '', ...rest] = words;
  if (!COMMANDS.includes(command)) {
    const choices = `${COMMANDS.slice(0, -1).join(', ')} or ${COMMANDS.at(-1)}`;
    throw new Exit(2, command ? `There is no command ${command}: use ${choices}.` : `Say what to do: ${choices}.`);
  }
  // A task is words, whether or not the shell was told to keep them together.
  const isTask = command === 'decompose';
  const files = isTask && rest.length ? [rest.join(' ')] : rest;
  if (files.length === 0) throw new Exit(2, `Say which ${isTask ? 'task' : 'file'}: fairhand ${command} ${isTask ? 'TASK' : 'FILE'}, or - for standard input.`);
  if (files.length > 1 && (command !== 'clean' || (parsed.output !== undefined && parsed.output !== '-'))) {
    throw new Exit(2, command === 'clean' ? 'With several files, --output can only be -.' : `${command} takes one file.`);
  }
  // Rules clean at once: a model takes part only where it is asked for.
  const model = command === 'clean' ? undefined : node.env['FAIRHAND_MODEL'];
  return { ...(model && { model }), ...parsed, command, files };
}

async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 0 || argv.some((word) => word === '-h' || word === '--help')) return void node.stdout.write(`${HELP}\n`);
  const fs = node.getBuiltinModule?.('node:fs');
  if (!fs) throw new Exit(1, `Node ${node.version} is too old: fairhand needs 20.16 or newer.`);
  if (argv.includes('--version')) return void node.stdout.write(`${(await loadCleaner()).info.versions.crate}\n`);
  const options = parse(argv);
  if (options.command !== 'clean' && !options.model) {
    throw new Exit(2, 'This needs a model: give --model PATH of a GGUF file, or set FAIRHAND_MODEL.');
  }
  if (options.command === 'clean') return cleanAll(options.model ? await loadModel(options) : await loadCleaner(), options);
  const cleaner = await loadCleaner();
  const answer = await ask(await subject(cleaner, options), options);
  write(`${JSON.stringify(answer, null, 2)}\n`, options.output ?? '-', options.force);
}

/** What the model is asked about: a task as it stands; a note or a transcript once it is cleaned, which marks and take-backs would blur. */
async function subject(cleaner: Cleaner, options: Arguments): Promise<string> {
  const [file = ''] = options.files;
  if (options.command === 'decompose' && file !== '-') return file;
  const { text } = await read(cleaner, file, options.quiet);
  return (await cleaner.cleanup(text, cleanupOptions(options))).text;
}

const ABOUT: Record<string, string> = { tag: 'tagging', extract: 'finding tasks', decompose: 'finding steps' };

async function ask(text: string, options: Arguments): Promise<object> {
  const engine = await loadModel(options);
  const progress = meter(options.quiet, ABOUT[options.command] ?? '');
  const onProgress = ({ phase, done, total }: CallProgress) => progress(phase === 'prefill' ? done / total : undefined);
  try {
    switch (options.command) {
      case 'tag': {
        const { topic, intent } = await engine.tagContent(text, { onProgress });
        return { topic, intent };
      }
      case 'extract': {
        const { tasks } = await engine.extractTasks(text, { onProgress });
        return { tasks: tasks.map((task) => task.text) };
      }
      default: {
        const { steps } = await engine.decomposeTask(text, { onProgress });
        return { steps };
      }
    }
  } catch (error) {
    throw error instanceof FairhandError && options.command !== 'decompose' ? failed(options.files[0] ?? '', error) : error;
  } finally {
    progress(1);
    await engine.dispose();
  }
}

/** Cleans every file; one that fails is told of, and the others are done all the same. */
async function cleanAll(cleaner: Cleaner, options: Arguments): Promise<void> {
  for (const file of options.files) {
    try {
      await clean(cleaner, file, options);
    } catch (error) {
      if (!(error instanceof FairhandError || error instanceof Exit)) throw error;
      node.stderr.write(`fairhand: ${sentence(error)}\n`);
      node.exitCode = 1;
    }
  }
  await cleaner.dispose();
}

async function clean(cleaner: Cleaner, file: string, options: Arguments): Promise<void> {
  const transcript = await read(cleaner, file, options.quiet);
  const progress = meter(options.quiet, file === '-' ? 'cleaning' : `cleaning ${baseName(file)}`);
  const result = await cleaner
    .cleanup(transcript.text, { ...cleanupOptions(options), onProgress: ({ done, total }) => progress(done / total) })
    .catch((error: unknown) => failed(file, error));
  progress(1);
  const format = options.format ?? formatOf(file);
  const output = options.output ?? (file === '-' ? '-' : beside(file, format));
  write(exported(format, { transcript, edits: result.edits, text: result.text, result }), output, options.force);
  if (options.quiet) return;
  if (result.fallback) node.stderr.write(`${nameOf(file)}: The model was not asked about all of it; the rest is as the rules have it.\n`);
  if (output !== '-') node.stderr.write(`${output}: ${result.edits.length} edits\n`);
}

function cleanupOptions({ level, preset, terms, language }: Arguments) {
  return {
    ...(level && { level: level as 'clean' }),
    ...(preset && { preset: preset as 'default' }),
    ...(terms.length && { dictionary: terms }),
    ...(language && { language }),
  };
}

async function read(cleaner: Cleaner, file: string, quiet: boolean): Promise<Transcript> {
  let bytes: Uint8Array;
  if (file === '-') {
    const pieces: Uint8Array[] = [];
    for await (const piece of node.stdin) pieces.push(piece);
    bytes = new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
  } else {
    try {
      bytes = node.getBuiltinModule('node:fs').readFileSync(file);
    } catch (error) {
      throw new Exit(1, `${file} cannot be read${because(error)}.`);
    }
  }
  const name = file === '-' ? undefined : baseName(file);
  const transcript = await cleaner.readTranscript(new Uint8Array(bytes), name).catch((error: unknown) => failed(file, error));
  if (!quiet) for (const notice of told(transcript.notices)) node.stderr.write(`${nameOf(file)}: ${notice}\n`);
  return transcript;
}

/** A failure of the engine's with the name of the file that it is about. */
function failed(file: string, error: unknown): never {
  throw error instanceof FairhandError ? new Exit(1, `${nameOf(file)}: ${error.message}`) : error;
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

function sentence({ message }: Error): string {
  return message.endsWith('.') ? message : `${message}.`;
}

function write(text: string, output: string, force: boolean): void {
  if (output === '-') return void node.stdout.write(text);
  const fs = node.getBuiltinModule('node:fs');
  if (!force && fs.existsSync(output)) throw new Exit(1, `${output} is there already: use --force to write over it.`);
  try {
    fs.writeFileSync(output, text);
  } catch (error) {
    throw new Exit(1, `${output} cannot be written${because(error)}.`);
  }
}

async function loadModel({ model = '', quiet }: Arguments): Promise<Engine> {
  const progress = meter(quiet, 'loading the model');
  try {
    return await load(model, {
      onProgress: ({ loaded, total }) => progress(total ? loaded / total : undefined),
    });
  } catch (error) {
    throw error instanceof FairhandError ? new Exit(3, error.message) : error;
  } finally {
    progress(1);
  }
}

/** A bar on a terminal, nothing elsewhere. Told a share from 0 to 1; undefined while nobody knows. */
function meter(quiet: boolean, label: string): (share: number | undefined) => void {
  const { stderr } = node;
  if (quiet || !stderr.isTTY) return () => {};
  let shown = '';
  return (share) => {
    const width = 24;
    const filled = Math.round((share ?? 0) * width);
    const bar = share === undefined ? '·'.repeat(width) : '█'.repeat(filled) + '░'.repeat(width - filled);
    const line = `${label} ${bar}${share === undefined ? '' : ` ${Math.floor(share * 100)} %`}`;
    if (line === shown) return;
    shown = line;
    stderr.write(`\r\u001b[K${share === 1 ? '' : line}`);
  };
}

function baseName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

function formatOf(file: string): Format {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase();
  return FORMATS.find((format) => format === extension) ?? 'txt';
}

function beside(file: string, format: Format): string {
  return `${file.replace(/\.\w+$/, '')}.clean.${format}`;
}

/** The system's word for what went wrong, without the path, which is in the sentence already. */
function because(error: unknown): string {
  const { code } = error as { code?: string };
  const known: Record<string, string> = { ENOENT: 'there is no such file', EACCES: 'it is not allowed', EISDIR: 'it is a folder' };
  return code ? `: ${known[code] ?? code}` : '';
}

// Who reads along may have had enough: `fairhand … | head` is no fault.
node.stdout.on('error', ({ code }) => {
  if (code === 'EPIPE') node.exit(0);
  node.stderr.write(`fairhand: standard output cannot be written: ${code ?? 'unknown'}.\n`);
  node.exit(1);
});

try {
  await main(node.argv.slice(2));
} catch (error) {
  const known = error instanceof Exit || error instanceof FairhandError;
  node.stderr.write(`fairhand: ${known ? sentence(error) : `an internal fault: ${String(error)}`}\n`);
  node.exitCode = error instanceof Exit ? error.status : 1;
}
