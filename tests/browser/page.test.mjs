// The page, driven as a person would: paste, run, cancel, run again, drop a file, copy and save, with the network off.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { PATIENCE, picture, start } from './harness.mjs';

const note = 'um so I I need to call the plumber before noon and uh remind me to send Priya the new budget';

/** @type {Awaited<ReturnType<typeof start>>} */
let site;
/** @type {Awaited<ReturnType<typeof site.page>>} */
let tab;
/** @type {import('playwright-core').Page} */
let page;

before(async () => {
  site = await start();
  tab = await site.page({ permissions: ['clipboard-read', 'clipboard-write'] });
  page = tab.page;
  await page.goto(site.url);
});
after(() => site.close());

const text = (/** @type {string} */ id) => page.locator(`#${id}`).innerText();

/** Waits until an element's text matches. @param {string} id @param {RegExp} pattern */
async function shows(id, pattern) {
  await page.waitForFunction(
    ([name, source]) => new RegExp(source).test(document.getElementById(name)?.textContent ?? ''),
    /** @type {const} */ ([id, pattern.source]),
  );
}

async function paste(/** @type {string} */ content) {
  await page.evaluate((value) => navigator.clipboard.writeText(value), content);
  await page.locator('#raw').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+V');
}

test('a pasted text is cleaned at once, before the model is there', { timeout: PATIENCE }, async () => {
  await paste(note);
  await shows('clean', /plumber/);
  const cleaned = await text('clean');
  assert.doesNotMatch(cleaned, /\b(um|uh)\b|I I/i);
  assert.match(cleaned, /[.!?]$/);
  assert.notEqual(await text('count-delete'), '0');
  assert.equal(await page.locator('#raw').inputValue(), note);
});

test('marks in both texts explain themselves to pointer and keys', { timeout: PATIENCE }, async () => {
  const marks = await page.locator('#clean mark').count();
  assert.ok(marks >= 3);
  assert.ok((await page.locator('#raw-marks mark').count()) <= marks);

  await page.locator('#raw-marks mark.delete').first().hover({ force: true });
  await page.waitForSelector('#tip:not([hidden])');
  assert.match(await text('tip'), /removed “um”/);

  await page.locator('#clean').focus();
  await page.keyboard.press('Home');
  assert.match(await text('announce'), /^Edit 1 of \d+\. /);
  assert.equal(await page.locator('#clean mark.current').count(), 1);
  await page.keyboard.press('ArrowRight');
  assert.match(await text('announce'), /^Edit 2 of \d+\. /);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('mark.current').count(), 0);
});

test('the level decides how much is changed', { timeout: PATIENCE }, async () => {
  await page.locator('#level').selectOption('verbatim');
  await shows('clean', /um/i);
  await page.locator('#level').selectOption('clean');
  await page.waitForFunction(() => !/\bum\b/i.test(document.getElementById('clean')?.textContent ?? ''));
});

test('with the network off: tasks and tag, cancelled, then run to the end', { timeout: PATIENCE }, async () => {
  await shows('model-state', /is ready/);
  await tab.context.setOffline(true);
  tab.requests.length = 0;

  await page.locator('#run').click();
  await shows('run-state', /reading|writing/);
  await page.keyboard.press('Escape');
  await shows('run-state', /Cancelled/);
  assert.ok(await page.locator('#run').isEnabled());
  assert.ok(await page.locator('#problem').isHidden(), 'a cancel is no problem');

  await page.evaluate(() => {
    const state = /** @type {HTMLElement} */ (document.getElementById('run-state'));
    const said = (/** @type {any} */ (window).said = /** @type {(string | null)[]} */ ([]));
    new MutationObserver(() => said.push(state.textContent)).observe(state, { childList: true });
  });
  await page.locator('#raw').click();
  await page.keyboard.press('Control+Enter');
  await shows('run-state', /reading/);
  await picture(page, 'working');
  await shows('run-state', /Done in/);
  const said = /** @type {string[]} */ (await page.evaluate('window.said')).join('\n');
  assert.match(said, /Tag: reading the text … \d+ %/);
  assert.match(said, /Tag: writing … \d+ tokens? · [\d.]+ tokens\/s/);
  assert.match(await text('topic'), /^[a-z0-9]+(-[a-z0-9]+){0,2}$/);
  assert.match(await text('intent'), /^(planning|reflection|venting|capture|decision|question)$/);
  const tasks = await page.locator('#tasks li').count();
  assert.equal(await page.locator('#tasks-note').isHidden(), tasks > 0);
});

test('copy and save give the cleaned text', { timeout: PATIENCE }, async () => {
  const cleaned = await page.locator('#clean').evaluate((element) => element.textContent);
  await page.locator('#copy').click();
  await shows('copy', /Copied/);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), cleaned);

  assert.equal(await saved('save-text'), cleaned);
  const json = JSON.parse(await saved('save-json'));
  assert.equal(json.raw, note);
  assert.equal(json.text, cleaned);
  assert.deepEqual(Object.keys(json.tag), ['topic', 'intent']);
  assert.ok(json.edits.every((/** @type {any} */ { start, end, original }) => note.slice(start, end) === original));
});

/** @param {string} id */
async function saved(id) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator(`#${id}`).click()]);
  return readFileSync(await download.path(), 'utf8');
}

for (const name of ['note.vtt', 'note.srt', 'note.whisper.json', 'note.txt']) {
  test(`${name} is dropped on the page`, { timeout: PATIENCE }, async () => {
    await drop(name, readFileSync(new URL(`../data/transcripts/${name}`, import.meta.url), 'utf8'));
    await page.waitForFunction(() => /dentist/.test(/** @type {HTMLTextAreaElement} */ (document.getElementById('raw')).value));
    assert.doesNotMatch(await page.locator('#raw').inputValue(), /-->|WEBVTT|[{}]/);
    await shows('clean', /dentist/);
    assert.equal(/0:09/.test(await text('raw-facts')), name !== 'note.txt', 'its length, where the file has times');
    assert.equal(await text('topic'), '', 'the tag was of another text');
    await page.locator('#clear').click();
    await page.waitForFunction(() => document.getElementById('clean')?.textContent === '');
  });
}

/** @param {string} name @param {string} content */
async function drop(name, content) {
  const data = await page.evaluateHandle(
    ([fileName, body]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([body], fileName));
      return transfer;
    },
    /** @type {const} */ ([name, content]),
  );
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: data });
  assert.ok(await page.locator('#drop').isVisible());
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
  assert.ok(await page.locator('#drop').isHidden());
}

test('odd texts do no harm', { timeout: PATIENCE }, async () => {
  const texts = ['um uh', '.', '\ud800 um lone \udc00', 'שלום um עולם', '👩‍👩‍👧 um 😀', '<b>um</b> & "so"', 'the '.repeat(5000)];
  for (const odd of texts) {
    await page.locator('#raw').fill(odd);
    await shows('clean-facts', /edit/);
    assert.ok(await page.locator('#problem').isHidden(), JSON.stringify(odd.slice(0, 20)));
    assert.equal(await page.locator('#clean b').count(), 0);
    await page.locator('#clear').click();
    await page.waitForFunction(() => document.getElementById('clean-facts')?.textContent === '');
  }
});

test('nothing was asked of the network, and nothing went wrong unseen', () => {
  // Saving makes a blob: address, which is memory of this page.
  assert.deepEqual(tab.requests.filter((url) => !url.startsWith('blob:')), []);
  assert.deepEqual(tab.faults, []);
});

test('a model of the reader’s own that is none is refused in words, and the next one loads', { timeout: PATIENCE }, async () => {
  await tab.context.setOffline(false); // a new engine starts a new worker, whose script the server has
  await page.locator('#model-file').setInputFiles({ name: 'zip.gguf', mimeType: '', buffer: Buffer.from('PK\u0003\u0004....') });
  await shows('problem-text', /not a GGUF file.*corrupt-model/);
  await picture(page, 'problem');
  await page.locator('#model-file').setInputFiles(site.modelPath);
  await shows('model-state', /Reading/);
  await page.locator('#model-cancel').click();
  await shows('model-state', /cancelled/);
  assert.ok(await page.locator('#problem').isHidden());
  await page.locator('#model-load').click();
  await shows('model-state', /is ready/);
});

test('what is shown fits: light and dark, desktop and phone', { timeout: PATIENCE }, async () => {
  for (const [name, colorScheme, width, height] of /** @type {const} */ ([
    ['desktop-light', 'light', 1280, 900],
    ['desktop-dark', 'dark', 1280, 900],
    ['phone-light', 'light', 390, 844],
    ['phone-dark', 'dark', 390, 844],
  ])) {
    const { page: fresh, faults, context } = await site.page({ colorScheme, viewport: { width, height }, reducedMotion: 'reduce' });
    await fresh.route('**/models/manifest.json', (route) => route.fulfill({ json: { models: [] } }));
    await fresh.goto(site.url);
    await fresh.locator('#sample').click();
    await fresh.waitForFunction(() => (document.getElementById('clean')?.textContent ?? '').length > 100);
    await fresh.locator('#clean').focus();
    await fresh.keyboard.press('ArrowRight');
    await picture(fresh, name, { fullPage: true });
    const overflow = await fresh.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${name} scrolls sideways by ${overflow} px`);
    assert.match(await fresh.locator('#model-state').innerText(), /No model yet/);
    assert.ok(await fresh.locator('#run').isDisabled());
    assert.deepEqual(faults, []);
    await context.close();
  }
});
