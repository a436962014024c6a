// Models as files of this machine, where the package runs in Node: by a path or a file: URL.
import { FairhandError } from './errors.js';
import { shardNames } from './shards.js';

// Node's own types are not those of a browser's package, so what is used of Node is named here.
interface NodeFiles {
  openAsBlob(path: string | URL): Promise<Blob>;
  statSync(path: string | URL, options: { throwIfNoEntry: false }): { isFile(): boolean } | undefined;
}
const { process } = globalThis as { process?: { versions?: { node?: string }; getBuiltinModule?: (name: 'node:fs') => NodeFiles } };

/** Whether `source` names a file of this machine; never in a browser, where a relative address is one of the page's. */
export function isLocalFile(source: unknown): source is string | URL {
  if (!process?.versions?.node) return false;
  if (source instanceof URL) return source.protocol === 'file:';
  // One letter before a colon is a drive.
  return typeof source === 'string' && source !== '' && (/^file:/i.test(source) || !/^[a-z][a-z\d+.-]+:/i.test(source));
}

/**
 * The files of the model that a path names: one, or all where its name is that of one of several.
 * @throws FairhandError as {@link localFile}
 */
export async function localFiles(source: string | URL): Promise<Blob[]> {
  const names = shardNames(String(source)) ?? [String(source)];
  return Promise.all(names.map(localFile));
}

/**
 * A file, read piece by piece as it is needed.
 * @throws FairhandError `invalid-argument` where there is none; `unsupported-environment`
 */
export async function localFile(source: string | URL): Promise<Blob> {
  const fs = process?.getBuiltinModule?.('node:fs');
  if (!fs?.openAsBlob) throw new FairhandError('unsupported-environment', 'Models by a path need Node 20.16 or newer.');
  const path = /^file:/i.test(String(source)) ? new URL(source) : String(source);
  if (!fs.statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new FairhandError('invalid-argument', `There is no model at ${path instanceof URL ? path.pathname : path}.`);
  }
  return fs.openAsBlob(path);
}
