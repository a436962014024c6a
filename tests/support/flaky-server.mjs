// A server of one file that misbehaves as told.
import { createServer } from 'node:http';

/**
 * @typedef {object} Behaviour
 * @property {boolean} [ranges] whether it answers Range requests with the range; default true
 * @property {string | null} [etag] null: none
 * @property {number[]} [cuts] after which byte of the file the connection breaks, one entry for each request in turn
 * @property {{ status: number, type?: string, body?: string }[]} [refusals] answers given first, one for each request
 * @property {number} [settleMs] how long before a cut nothing comes: a reader loses what it has not taken by then
 * @property {number} [bytesPerSecond]
 * @property {number} [stall] after which byte nothing more comes, though the connection stays
 * @property {boolean} [hideLength] sends no length
 */

/** A handler that serves `content` as told. @param {Buffer} content */
export function flaky(content) {
  /** @type {Behaviour} */
  let behaviour = {};
  let body = content;
  /** @type {{ range: string | undefined, authorization: string | undefined }[]} */
  const heard = [];
  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async function handler(request, response) {
    heard.push({ range: request.headers.range, authorization: request.headers.authorization });
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('cross-origin-resource-policy', 'cross-origin');
    response.setHeader('access-control-allow-headers', 'range, authorization');
    if (request.method === 'OPTIONS') return response.end();
    const refusal = behaviour.refusals?.shift();
    if (refusal) {
      return response.writeHead(refusal.status, { 'content-type': refusal.type ?? 'text/plain' }).end(refusal.body ?? '');
    }
    const { ranges = true, etag = '"one"' } = behaviour;
    if (etag !== null) response.setHeader('etag', etag);
    let start = 0;
    const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    if (from !== undefined && ranges) {
      start = Number(from);
      if (start >= body.length) return response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
      response.statusCode = 206;
      response.setHeader('content-range', `bytes ${start}-${body.length - 1}/${body.length}`);
    }
    if (!behaviour.hideLength) response.setHeader('content-length', body.length - start);
    const { stall = Infinity } = behaviour;
    const end = Math.min(behaviour.cuts?.shift() ?? Infinity, stall);
    response.flushHeaders();
    const step = behaviour.bytesPerSecond ? Math.max(1, Math.round(behaviour.bytesPerSecond / 50)) : 1 << 16;
    for (let at = start; at < Math.min(end, body.length) && !response.destroyed; at += step) {
      const flowing = response.write(body.subarray(at, Math.min(at + step, end)));
      if (behaviour.bytesPerSecond) await new Promise((resolve) => setTimeout(resolve, 20));
      else if (!flowing) await drained(response);
    }
    if (stall < body.length) return;
    if (end < body.length) {
      if (behaviour.settleMs) await new Promise((resolve) => setTimeout(resolve, behaviour.settleMs));
      response.socket?.end(); // after all that was written
    } else {
      response.end();
    }
  }
  return {
    handler,
    heard,
    /** From now on. @param {Behaviour} next @param {Buffer} [file] */
    behave(next, file = content) {
      behaviour = next;
      body = file;
      heard.length = 0;
    },
  };
}

/** @param {Buffer} content */
export async function flakyServer(content) {
  const { handler, heard, behave } = flaky(content);
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/model.gguf`,
    heard,
    behave,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param {import('node:http').ServerResponse} response */
function drained(response) {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve(undefined);
    };
    response.on('drain', done).on('close', done);
  });
}
