// What every browser test needs: the site served, a browser, pages with a log of what they ask for.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../scripts/lib/browser.mjs';
import { artefacts } from '../../scripts/lib/paths.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { model } from '../../scripts/steps/model.mjs';

/** Long enough for a small model on a busy machine of two cores. */
export const PATIENCE = 300_000;

/** @typedef {import('playwright-core').Page} Page */

/**
 * @param {Record<string, import('../../scripts/lib/serve.mjs').Handler>} [routes] further answers by path
 */
export async function start(routes = {}) {
  const path = await model();
  const server = await serve({ port: 0, model: path, routes });
  const browser = await launch();
  return {
    url: server.url,
    modelPath: path,
    browser,
    /**
     * A page in a profile of its own. A script error or a violated policy fails the test that asks `faults`.
     * @param {import('playwright-core').BrowserContextOptions} [options]
     */
    async page(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      /** @type {string[]} */
      const faults = [];
      /** @type {string[]} */
      const requests = [];
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      context.on('request', (request) => requests.push(request.url()));
      return { page, context, faults, requests };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** Keeps a picture for a person to look at. @param {Page} page @param {string} name */
export async function picture(page, name, options = {}) {
  mkdirSync(artefacts, { recursive: true });
  await page.screenshot({ path: join(artefacts, `${name}.png`), animations: 'disabled', ...options });
}

/** Bytes of memory that the browser's pages and workers hold. @param {import('playwright-core').Browser} browser */
export async function rendererMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { id }) => sum + residentBytes(id), 0);
}

/** A process that has ended since it was listed holds nothing: it has no entry any more, or one without a size until it is reaped. @param {number} id */
function residentBytes(id) {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT' || /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH') return 0;
    throw error;
  }
}
