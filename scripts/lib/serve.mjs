// The file server of `npm start`, the demo and the browser tests: the site, its headers, one model.
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { Failure } from './fail.mjs';
import { root, site } from './paths.mjs';

/** @typedef {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} Handler */

/**
 * Serves the site on the loopback interface.
 * @param {object} options
 * @param {number} options.port 0 for any free port
 * @param {string} [options.model] path of a GGUF file, offered as the page's default model
 * @param {boolean} [options.bare] sends no headers of ours, as some hosts must
 * @param {Record<string, Handler>} [options.routes] further answers by exact path; the tests' bad servers
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serve({ port, model, bare = false, routes = {} }) {
  const { default: sirv } = await import('sirv'); // here, because the set-up runs before npm has installed it
  /** @type {Record<string, string>} */
  const headers = bare ? {} : JSON.parse(readFileSync(join(root, 'pkg-config', 'headers.json'), 'utf8'));
  // `dev` reads the disk for every request, so a rebuild needs no restart; `etag` lets the browser's cache keep the model.
  const files = sirv(site, { dev: true, etag: true });
  const answers = { ...routes, '/models/manifest.json': manifest(model) };
  if (model) {
    const folder = sirv(dirname(model), { dev: true, etag: true, dotfiles: true, extensions: [] });
    const file = `/${encodeURIComponent(basename(model))}`;
    // By its own name, as the page shows it, and by one that a script need not know.
    for (const path of ['/default.gguf', file]) {
      answers[`/models${path}`] = (request, response) => {
        request.url = file;
        folder(request, response);
      };
    }
  }
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const answer = Object.hasOwn(answers, path) ? answers[path] : files;
    answer(request, response);
  });
  await new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      reject(error.code === 'EADDRINUSE' ? new Failure(`Port ${port} is taken: choose another with \`npm start -- --port N\`.`) : error),
    );
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * What the page asks for first: which models this host offers. `autoload` says that fetching one costs nobody's
 * network, since this server runs on the reader's own machine.
 * @param {string | undefined} model
 * @returns {Handler}
 */
function manifest(model) {
  const offered = model
    ? [{ name: basename(model).replace(/\.gguf$/i, ''), url: `models/${encodeURIComponent(basename(model))}`, size: statSync(model).size, autoload: true }]
    : [];
  return (_, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ models: offered }));
  };
}
