// The WebAssembly module of this thread: which variant, in which memory, with how many threads.
//
// `threads` has relaxed SIMD and a shared memory, `simd` has neither; both give the same tokens. Where the page is not
// isolated the memory cannot be sent to another thread, and `threads` runs on one.
import { relaxedSimd } from './capabilities.js';
import { asFairhandError, FairhandError, isTrap } from './errors.js';
import type { CleanerOptions } from './types.js';
import type * as Bindings from './wasm/simd/fairhand.js';

export type { Engine, Job, ModelLoader } from './wasm/simd/fairhand.js';
type Threaded = typeof import('./wasm/threads/fairhand.js');

export type Variant = 'simd' | 'threads';

/** What both variants offer. */
export type Wasm = Omit<typeof Bindings, 'default' | 'initSync'>;

export interface Module {
  readonly wasm: Wasm;
  readonly memory: WebAssembly.Memory;
  readonly variant: Variant;
  /** That share the work, this one included. */
  readonly threads: number;
}

export interface ModuleOptions {
  wasm?: CleanerOptions['wasm'];
  threads?: number | undefined;
}

/** What a helper is sent: the module and the memory that it is to share. */
export interface HelperSetUp {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
}

/** Beyond this, threads wait for memory and for each other. */
const MOST_THREADS = 4;
// Pages of 64 KiB. The first is no less than the build's --initial-memory and what wasm-bindgen adds to it: a module
// refuses a smaller memory.
const INITIAL = 144;
const LEAST_MAXIMUM = 4096;
const MAXIMUM = 65_536;
const HELPER_PATIENCE_MS = 10_000;

// There is one instance a thread, so a trap stops every engine in it.
let trap: FairhandError | undefined;
let current: Promise<Module> | undefined;
let helpers: Worker[] = [];

/** Calls into the module. Whatever it throws gets its type; a trap is remembered, and refuses all later calls. */
export function guarded<T>(call: () => T): T {
  if (trap) throw trap;
  try {
    return call();
  } catch (error) {
    if (!isTrap(error)) throw asFairhandError(error);
    stop(new FairhandError('internal', 'The engine has stopped on an internal fault and must be loaded anew.', { cause: error }));
    throw trap;
  }
}

/** The fault that has stopped the module of this thread, if one has. */
export function fault(): FairhandError | undefined {
  return trap;
}

function stop(reason: FairhandError): void {
  trap ??= reason;
  for (const helper of helpers) helper.terminate();
  helpers = [];
}

/**
 * The module of this thread, made on the first call; later ones get the same, whatever their options.
 * @throws FairhandError `csp-blocked`, `unsupported-environment`, `network`, `internal` after a trap
 */
export async function instantiate(options: ModuleOptions): Promise<Module> {
  if (trap) throw trap;
  // One that failed may be tried again: a network comes back.
  current ??= make(options).catch((error: unknown) => {
    current = undefined;
    throw typed(error);
  });
  return current;
}

async function make(options: ModuleOptions): Promise<Module> {
  // Both travel at once. The network that sets marks is a file of its own, since both variants read the same one.
  const network = bytesOf(ownNetwork());
  network.catch(() => {}); // reported below
  const module = await start(options);
  module.wasm.readMarksNetwork(await network);
  return module;
}

async function start({ wasm, threads }: ModuleOptions): Promise<Module> {
  if (wasm !== undefined) {
    const module = await compile(wasm);
    const needsMemory = WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');
    return needsMemory ? threaded(module, sharedMemory(), threads) : single(module);
  }
  if (relaxedSimd()) {
    const memory = sharedMemoryOrNone();
    if (memory) return threaded(await compile(ownModule('threads')), memory, threads);
  }
  return single(await compile(ownModule('simd')));
}

async function single(module: WebAssembly.Module): Promise<Module> {
  const wasm = await import('./wasm/simd/fairhand.js');
  const { memory } = await wasm.default({ module_or_path: module });
  return { wasm, memory, variant: 'simd', threads: 1 };
}

async function threaded(module: WebAssembly.Module, memory: WebAssembly.Memory, wanted: number | undefined): Promise<Module> {
  const wasm = await import('./wasm/threads/fairhand.js');
  await wasm.default({ module_or_path: module, memory });
  if (canHaveHelpers()) await startHelpers({ module, memory }, (wanted ?? defaultThreads()) - 1, wasm);
  return { wasm, memory, variant: 'threads', threads: wasm.threads() };
}

/** Whoever shares work may have to wait for the others, which a page's own thread must not; and they must get the memory. */
function canHaveHelpers(): boolean {
  const scope = globalThis as { crossOriginIsolated?: boolean; WorkerGlobalScope?: unknown };
  return Boolean(scope.crossOriginIsolated) && scope.WorkerGlobalScope !== undefined && typeof Worker === 'function';
}

function defaultThreads(): number {
  return Math.max(1, Math.min(MOST_THREADS, navigator.hardwareConcurrency || 1));
}

/** Starts helpers and waits until they serve. Where they cannot be started there are fewer, or none: only time is lost. */
async function startHelpers(setUp: HelperSetUp, count: number, wasm: Threaded): Promise<void> {
  const started = Array.from({ length: Math.max(0, count) }, () => startHelper(setUp));
  helpers = (await Promise.all(started)).filter((helper) => helper !== undefined);
  const deadline = performance.now() + HELPER_PATIENCE_MS;
  // Each says that it is about to serve, and serving can be seen in the memory only.
  while (wasm.threads() <= helpers.length && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 0));
}

function startHelper(setUp: HelperSetUp): Promise<Worker | undefined> {
  return new Promise((resolve) => {
    let helper: Worker;
    try {
      helper = new Worker(new URL('./helper.js', import.meta.url), { type: 'module' });
    } catch {
      return resolve(undefined);
    }
    const timer = setTimeout(() => (helper.terminate(), resolve(undefined)), HELPER_PATIENCE_MS);
    helper.onmessage = () => {
      clearTimeout(timer);
      helper.onerror = (event) => {
        event.preventDefault();
        stop(new FairhandError('internal', 'A thread of the engine has stopped: the model must be loaded anew.'));
      };
      resolve(helper);
    };
    helper.onerror = (event) => {
      event.preventDefault();
      clearTimeout(timer);
      resolve(undefined);
    };
    helper.postMessage(setUp);
  });
}

/** A maximum is only reserved, yet some browsers refuse a large one: then half of it. */
function sharedMemory(): WebAssembly.Memory {
  for (let maximum = MAXIMUM; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: INITIAL, maximum, shared: true });
    } catch (error) {
      if (maximum <= LEAST_MAXIMUM) throw error;
    }
  }
}

function sharedMemoryOrNone(): WebAssembly.Memory | undefined {
  try {
    return sharedMemory();
  } catch {
    return undefined;
  }
}

async function compile(source: NonNullable<CleanerOptions['wasm']> | Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) return WebAssembly.compile(source);
  const response = await fetch(source);
  if (!response.ok) throw new Error(`status ${response.status}`);
  // Browsers compile what arrives under this type alone; where a server does not know it, the bytes themselves decide.
  const streams = response.headers.get('content-type') === 'application/wasm';
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** A module that travels with the package. */
function ownModule(variant: Variant): URL | Uint8Array<ArrayBuffer> {
  // Both in full: bundlers look for this form.
  return onDisk(
    variant === 'threads'
      ? new URL('./wasm/threads/fairhand_bg.wasm', import.meta.url)
      : new URL('./wasm/simd/fairhand_bg.wasm', import.meta.url),
  );
}

function ownNetwork(): URL | Uint8Array<ArrayBuffer> {
  return onDisk(new URL('./wasm/marks.bin', import.meta.url));
}

/** The URL; in Node, whose `fetch` reads no files, the file's bytes. */
function onDisk(url: URL): URL | Uint8Array<ArrayBuffer> {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  // Asked of the process and not imported: a bundler for the browser would stumble over the import.
  const fs = url.protocol === 'file:' && process?.getBuiltinModule?.('node:fs');
  return fs ? (fs as { readFileSync(path: URL): Uint8Array<ArrayBuffer> }).readFileSync(url) : url;
}

async function bytesOf(source: URL | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (source instanceof Uint8Array) return source;
  const response = await fetch(source);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

function typed(error: unknown): FairhandError {
  const message = error instanceof Error ? error.message : '';
  if (/content security policy|unsafe-eval/i.test(message)) {
    return new FairhandError('csp-blocked', "The page's content security policy must allow 'wasm-unsafe-eval' for scripts.", { cause: error });
  }
  if (error instanceof WebAssembly.CompileError || error instanceof WebAssembly.LinkError) {
    const reason = 'The WebAssembly module cannot run here: SIMD is missing, or the file is not the one of this package.';
    return new FairhandError('unsupported-environment', reason, { cause: error });
  }
  if (error instanceof FairhandError) return error;
  return new FairhandError('network', 'The WebAssembly module cannot be reached.', { retryable: true, cause: error });
}
