// The extension, really loaded in Chromium: a note of a local page goes in, without a network.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launchWithExtension } from '../../scripts/lib/browser.mjs';
import { extensions } from '../../scripts/lib/paths.mjs';
import { PATIENCE, picture, start } from './harness.mjs';

const note = 'um so for the garden we uh need to order the tomato seeds and remind me to call the the nursery on Monday';
const folder = mkdtempSync(join(tmpdir(), 'fairhand-profile-'));
/** @type {Awaited<ReturnType<typeof start>>} */
let site;
/** @type {import('playwright-core').BrowserContext} */
let context;
/** @type {import('playwright-core').Page} */
let panel;
let origin = '';

before(async () => {
  site = await start({ '/note': (_, response) => response.setHeader('content-type', 'text/html').end(`<!doctype html><title>My notes</title><p id=note>${note}</p>`) });
  context = await launchWithExtension(join(extensions, 'chromium'), folder);
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  origin = `chrome-extension://${new URL(worker.url()).host}`;
  panel = await context.newPage();
  panel.setDefaultTimeout(PATIENCE);
  await panel.goto(`${origin}/extension/panel.html`);
}, { timeout: PATIENCE });
after(async () => {
  await context?.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Waits until the newest note is done. */
async function newest() {
  await panel.waitForFunction(() => /^(done|failed)$/.test(/** @type {HTMLElement | null} */ (document.querySelector('#notes article'))?.dataset.state ?? ''));
  return panel.locator('#notes article').first();
}

test('it asks for little, and runs nothing from elsewhere', () => {
  for (const [browser, permissions] of /** @type {const} */ ([
    ['chromium', ['contextMenus', 'unlimitedStorage', 'offscreen', 'sidePanel']],
    ['firefox', ['menus', 'contextMenus', 'unlimitedStorage']],
  ])) {
    const root = join(extensions, browser);
    const manifest = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8'));
    assert.deepEqual(manifest.permissions, permissions);
    assert.equal(manifest.host_permissions ?? manifest.content_scripts, undefined);
    assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
    for (const name of [manifest.background.service_worker ?? manifest.background.scripts[0], 'extension/panel.html', 'page/icon-512.png']) assert.ok(existsSync(join(root, name)), name);
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.(js|html)$/.test(path))) {
      assert.doesNotMatch(readFileSync(join(root, name), 'utf8'), /(import|src|href)[ =(]*["'`]https?:/, name);
    }
  }
});

test('without a model it cleans, and says what tagging needs', { timeout: PATIENCE }, async () => {
  await context.setOffline(true);
  await panel.locator('#text').fill(note);
  await panel.locator('#do-clean').click();
  assert.match(await (await newest()).innerText(), /call the nursery on Monday/);
  await panel.locator('#text').fill(note);
  await panel.locator('#do-tag').click();
  await panel.locator('#notes article .problem').first().waitFor();
  assert.match(await (await newest()).innerText(), /no model yet/);
});

test('a selection on a page is tagged by its menu, and found by its tag', { timeout: PATIENCE }, async () => {
  await panel.locator('#model-file').setInputFiles(site.modelPath);
  await panel.waitForFunction(() => /98 MB/.test(document.getElementById('model-state')?.textContent ?? ''));
  await context.setOffline(false);
  const page = await context.newPage();
  await page.goto(new URL('note', site.url).href);
  const selected = await page.locator('#note').innerText();
  await context.setOffline(true);
  // The menu itself belongs to the browser, and no test can reach it: its event is what the extension hears.
  const [worker] = context.serviceWorkers();
  await worker.evaluate(([text, title]) => {
    const { onClicked } = /** @type {any} */ (globalThis).chrome.contextMenus;
    onClicked.dispatch({ menuItemId: 'tag', selectionText: text }, { title });
  }, [selected, await page.title()]);
  const found = await newest();
  await found.locator('.tag').waitFor();
  const [topic, intent] = await found.locator('.tag button').allInnerTexts();
  assert.match(topic, /^[a-z0-9]+(-[a-z0-9]+){0,2}$/);
  assert.match(intent, /^(planning|reflection|venting|capture|decision|question)$/);
  assert.match(await found.locator('footer').innerText(), /My notes/);
  await picture(panel, 'extension');

  await panel.locator('#search').fill('no-such-tag');
  await panel.locator('#empty', { hasText: 'No note has this tag.' }).waitFor();
  await panel.locator('#search').fill(topic);
  await panel.waitForFunction(() => document.querySelectorAll('#notes article').length === 1);
  await panel.locator('#search').fill('');
  await page.close();
});

test('its panel has no accessibility violations, in light and dark', { timeout: PATIENCE }, async () => {
  await panel.evaluate(readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    await panel.emulateMedia({ colorScheme });
    const { violations } = await panel.evaluate(() => /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(violations.map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes.map((/** @type {any} */ node) => node.target).join(' ')}`), [], colorScheme);
  }
});

test('it survives the stop of its service worker, and a reload of the panel', { timeout: PATIENCE }, async () => {
  // What the browser does after half a minute of idleness.
  const session = await context.browser()?.newBrowserCDPSession() ?? await context.newCDPSession(panel);
  const { targetInfos } = await session.send('Target.getTargets');
  const target = targetInfos.find(({ type, url }) => type === 'service_worker' && url.startsWith(origin));
  assert.ok(target);
  await session.send('Target.closeTarget', { targetId: target.targetId });
  await panel.reload();
  await panel.waitForFunction(() => document.querySelectorAll('#notes article').length === 3);
  await panel.locator('#text').fill(note);
  await panel.locator('#do-tasks').click();
  await panel.locator('#notes article ul li').first().waitFor();
  assert.match(await (await newest()).locator('ul').innerText(), /call the nursery/i);
  await panel.locator('#forget-all').click();
  assert.match(await panel.locator('#forget-all').innerText(), /for good\?$/);
  assert.equal(await panel.locator('#notes article').count(), 4, 'the first click asks');
  await panel.locator('#forget-all').click();
  await panel.waitForFunction(() => document.querySelectorAll('#notes article').length === 0);
});
