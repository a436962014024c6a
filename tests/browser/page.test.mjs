// The page, driven as a person would: paste, run, cancel, run again, drop a file, copy and save, with the network off.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { serve } from '../../scripts/lib/serve.mjs';
import { PATIENCE, picture, start } from './harness.mjs';

const doubtful =
  'maybe I could paint the fence this summer. I was thinking of calling the bank. we should probably talk about the roof some day. ' +
  'perhaps I will write to Anna. it would be good to fix the door. somebody ought to look at the gutter, and the neighbour said he might help.';
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
  assert.match(await text('kinds'), /Filler 2/);
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

  // The rules alone decide about the note; here the model is asked, which takes long enough to be cancelled.
  await paste(doubtful);
  // The work may be short: the key comes with its first sign.
  await page.evaluate(() => {
    const state = /** @type {HTMLElement} */ (document.getElementById('run-state'));
    new MutationObserver((_, observer) => {
      observer.disconnect();
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    }).observe(state, { childList: true });
  });
  await page.locator('#run').click();
  await shows('run-state', /Cancelled/);
  assert.ok(await page.locator('#run').isEnabled());
  assert.ok(await page.locator('#problem').isHidden(), 'a cancel is no problem');

  await page.evaluate(() => {
    const state = /** @type {HTMLElement} */ (document.getElementById('run-state'));
    const said = (/** @type {any} */ (window).said = /** @type {(string | null)[]} */ ([]));
    new MutationObserver(() => said.push(state.textContent)).observe(state, { childList: true });
  });
  await paste(note);
  await page.locator('#raw').click();
  await page.keyboard.press('Control+Enter');
  await shows('run-state', /Done in/);
  const said = /** @type {string[]} */ (await page.evaluate('window.said')).join('\n');
  assert.match(said, /Tasks: at work …/);
  assert.match(said, /Tag: at work …/);
  assert.match(await text('topic'), /^[a-z0-9]+(-[a-z0-9]+){0,2}$/);
  assert.match(await text('intent'), /^(planning|reflection|venting|capture|decision|question)$/);
  const tasks = await page.locator('#tasks li').count();
  assert.equal(await page.locator('#tasks-note').isHidden(), tasks > 0);
});

test('a task is ticked off, and shows where it was said', { timeout: PATIENCE }, async () => {
  const task = page.locator('#tasks .task').first();
  const words = await task.locator('label').innerText();
  await task.locator('input').check();
  await task.getByText('Show').click();
  const shown = await page.evaluate(() => String(getSelection()));
  assert.ok(shown.length > 3 && words.toLowerCase().includes(shown.split(' ').at(-1)?.toLowerCase().replace(/\W/g, '') ?? '?'), `${words}: ${shown}`);
});

test('a task is broken into steps, and once more into others; the reader adds one of their own', { timeout: PATIENCE }, async () => {
  const first = page.locator('#tasks > li').first();
  await first.getByText('Break down').click();
  await first.getByText('Other steps').waitFor();
  const count = await first.locator('ol li').count();
  assert.ok(count >= 3 && count <= 7, `${count} steps`);
  assert.match(await text('announce'), /^\d steps for “.+”\.$/);
  await first.locator('ol input').first().check();

  await page.locator('#task-new').fill(' Water   the plants ');
  await page.keyboard.press('Enter');
  const own = page.locator('#tasks > li').last();
  assert.match(await own.innerText(), /Water the plants/);
  assert.equal(await own.getByText('Show').count(), 0, 'it was not said');
  await page.locator('#task-new').fill('Something else');
  await page.locator('#task-add button').click();
  await page.locator('#tasks > li').last().getByText('Remove').click();
  assert.equal(await page.getByText('Something else').count(), 0);
  assert.ok(await page.locator('#task-new').evaluate((element) => element === document.activeElement), 'the focus is not lost');
});

test('after a change of the text its answers stay, with what is ticked, and say of which text they are', { timeout: PATIENCE }, async () => {
  const tasks = await page.locator('#tasks').innerText();
  const topic = await text('topic');
  await page.locator('#clean mark.delete').first().click({ force: true });
  assert.equal(await page.locator('#tasks').innerText(), tasks);
  assert.equal(await text('topic'), topic);
  assert.ok(await page.locator('#tasks input').first().isChecked());
  assert.match(await text('insight-age'), /before your last change/);
  await page.locator('#clean mark.undone').first().click({ force: true });
  assert.ok(await page.locator('#insight-age').isHidden(), 'it is the same text again');

  await page.locator('#run').click();
  await shows('run-state', /Done in/);
  assert.equal(await page.locator('#tasks').innerText(), tasks, 'what is found again keeps its steps');
  assert.ok(await page.locator('#tasks input').first().isChecked());
});

test('copy and save give the cleaned text, in five formats', { timeout: PATIENCE }, async () => {
  const cleaned = await page.locator('#clean').evaluate((element) => element.textContent);
  await page.locator('#copy').click();
  await shows('copy', /Copied/);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), cleaned);

  assert.equal(await saved('txt'), `${cleaned}\n`);
  assert.match(await saved('srt'), /^1\n00:00:00,000 --> /);
  assert.match(await saved('vtt'), /^WEBVTT\n\n00:00:00\.000 --> /);
  assert.match(await saved('md'), /## Tasks\n\n- \[x\] .*\n {2}- \[x\] .*\n {2}- \[ \] [\s\S]*\n- \[ \] Water the plants\n$/);
  const json = JSON.parse(await saved('json'));
  assert.equal(json.raw, note);
  assert.equal(json.text, cleaned);
  assert.deepEqual(Object.keys(json.tag), ['topic', 'intent']);
  assert.equal(json.tasks[0].done, true);
  assert.deepEqual(Object.keys(json.tasks[0].steps[0]), ['text', 'done']);
  assert.ok(json.edits.every((/** @type {any} */ { start, end, original }) => note.slice(start, end) === original));
});

/** @param {string} format */
async function saved(format) {
  await page.locator('#format').selectOption(format);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#save').click()]);
  assert.match(download.suggestedFilename(), new RegExp(`\\.clean\\.${format}$`));
  return readFileSync(await download.path(), 'utf8');
}

const cleanText = () => page.locator('#clean').evaluate((element) => element.textContent ?? '');

test('each edit is undone by a click and brought back by a key', { timeout: PATIENCE }, async () => {
  const before = await cleanText();
  await page.locator('#clean mark.delete').first().click({ force: true });
  assert.match(await cleanText(), /^um /i);
  assert.match(await text('clean-facts'), /1 undone/);
  assert.match(await text('tip'), /undone · click to bring back/);
  await page.locator('#clean').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  assert.equal(await cleanText(), before);
  assert.match(await text('announce'), /^Edit 1 of/);
});

test('a kind of edits is switched off and on, by click and by key, and stays so', { timeout: PATIENCE }, async () => {
  const before = await cleanText();
  const chip = page.locator('#kinds [data-kind=filler]');
  await chip.click();
  assert.equal(await chip.getAttribute('aria-pressed'), 'false');
  assert.match(await cleanText(), /\bum\b.*\buh\b/i);
  await chip.focus();
  await page.keyboard.press('Space');
  assert.equal(await cleanText(), before);
  await page.keyboard.press('Space');

  await tab.context.setOffline(false);
  const second = await tab.context.newPage();
  await second.goto(site.url);
  await second.locator('#raw').fill('um yes');
  await second.waitForFunction(() => /um/i.test(document.getElementById('clean')?.textContent ?? ''));
  await second.locator('#kinds [data-kind=filler]').click();
  await second.close();
  await chip.click();
  await tab.context.setOffline(true);
  tab.requests.length = 0; // those of the second tab
  assert.equal(await cleanText(), before);
});

test('the dictionary is kept, and an odd term is left out and named', { timeout: PATIENCE }, async () => {
  const odd = 'x'.repeat(5000);
  await page.locator('#dictionary').fill(`Priya, ${odd}, \ud800, Zoë`);
  await shows('clean', /plumber/);
  assert.ok(await page.locator('#problem').isHidden());
  await page.waitForTimeout(300);
  assert.ok((await cleanText()).includes('plumber'), 'the pane is not blank');
  await page.locator('#dictionary').fill('Priya, Zoë');
  assert.equal(await page.evaluate(() => JSON.parse(localStorage.getItem('fairhand-settings') ?? '').dictionary), 'Priya, Zoë');
});

for (const name of ['note.vtt', 'note.srt', 'note.whisper.json', 'note.txt']) {
  test(`${name} is dropped on the page`, { timeout: PATIENCE }, async () => {
    await drop([name]);
    await page.waitForFunction(() => /dentist/.test(/** @type {HTMLTextAreaElement} */ (document.getElementById('raw')).value));
    assert.doesNotMatch(await page.locator('#raw').inputValue(), /-->|WEBVTT|[{}]/);
    await shows('clean', /dentist/);
    assert.equal(/0:09/.test(await text('raw-facts')), name !== 'note.txt', 'its length, where the file has times');
    assert.equal(await text('topic'), '', 'the tag was of another text');
    await page.locator('#clear').click();
    await page.waitForFunction(() => document.getElementById('clean')?.textContent === '');
  });
}

test('several files are opened as one text, and what cannot be read is named', { timeout: PATIENCE }, async () => {
  await drop(['note.srt', 'note.vtt']);
  await page.waitForFunction(() => (/** @type {HTMLTextAreaElement} */ (document.getElementById('raw')).value.match(/dentist/g) ?? []).length === 2);
  await shows('raw-facts', /0:18/);
  await page.locator('#clear').click();
});

test('of several files the bad ones are named, for as long as it takes, and the others are open', { timeout: PATIENCE }, async () => {
  await drop(['note.srt', ['broken.json', '{"segments": ['], ['empty.txt', ' \n'], ['picture.vtt', '\u0089PNG\r\n\u001a\n\u0000\u0000']]);
  await shows('raw-facts', /0:09/);
  await shows('clean', /dentist/);
  const lines = await page.locator('#problem-text > span').allInnerTexts();
  assert.equal(lines.length, 3);
  assert.match(lines[0], /^broken\.json could not be read\. .*JSON/);
  assert.match(lines[1], /^empty\.txt could not be read\. It holds no text\.$/);
  assert.match(lines[2], /^picture\.vtt could not be read\. /);
  await page.locator('#problem-close').click();
  assert.ok(await page.locator('#problem').isHidden());

  const before = await page.locator('#raw').inputValue();
  await drop([['empty.txt', '']]);
  await shows('problem-text', /holds no text/);
  assert.equal(await page.locator('#raw').inputValue(), before, 'a file without text takes nothing away');
  await page.locator('#clear').click();
});

test('a text that was cleared or replaced comes back with its times and tasks, by a button and by the browser\u2019s own undo', { timeout: PATIENCE }, async () => {
  await drop(['note.srt']);
  await shows('clean', /dentist/);
  await page.locator('#run').click();
  await shows('run-state', /Done in/);
  const said = await page.locator('#raw').inputValue();
  const tasks = await page.locator('#tasks').innerText();
  const isBack = async () => {
    await shows('clean', /dentist/);
    assert.equal(await page.locator('#raw').inputValue(), said);
    assert.match(await text('raw-facts'), /0:09/);
    assert.equal(await page.locator('#tasks').innerText(), tasks);
    assert.ok(await page.locator('#insight-age').isHidden());
  };
  await page.locator('#clear').click();
  assert.equal(await page.locator('#raw').inputValue(), '');
  assert.equal(await page.locator('#tasks li').count(), 0);
  await page.locator('#back').click();
  await isBack();

  await page.locator('#clear').click();
  await page.keyboard.press('Control+Z');
  await isBack();

  await drop(['note.txt']);
  await shows('raw-facts', /^\d+ words$/);
  await page.locator('#back').click();
  await isBack();
  await page.locator('#clear').click();
  await page.locator('#raw').fill('um a new one');
  assert.ok(await page.locator('#back').isHidden(), 'a new text ends the offer');
  await page.locator('#clear').click();
});

/** @param {(string | [name: string, content: string])[]} names of sample transcripts, or files of their own */
async function drop(names) {
  const files = names.map((file) => (typeof file === 'string' ? [file, readFileSync(new URL(`../data/transcripts/${file}`, import.meta.url), 'utf8')] : file));
  const data = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const [name, body] of all) transfer.items.add(new File([body], name));
    return transfer;
  }, files);
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: data });
  assert.ok(await page.locator('#drop').isVisible());
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
  assert.ok(await page.locator('#drop').isHidden());
}

test('a text from right to left runs that way, paragraph by paragraph', { timeout: PATIENCE }, async () => {
  await page.locator('#raw').fill('שלום um עולם\nhello um world');
  await shows('clean', /עולם\nHello/);
  const sides = await page.locator('#clean').evaluate((pane) => {
    const side = (/** @type {string} */ word) => {
      const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.textContent?.toLowerCase().indexOf(word) ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        const box = range.getBoundingClientRect();
        const frame = pane.getBoundingClientRect();
        return box.left + box.width / 2 < frame.left + frame.width / 2 ? 'left' : 'right';
      }
    };
    return [side('שלום'), side('hello')];
  });
  assert.deepEqual(sides, ['right', 'left']);
  await page.locator('#clear').click();
});

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

test('the rules\u2019 answer is refined in place, and what the reader decided stays as the text goes on', { timeout: PATIENCE }, async () => {
  const said =
    'um on tuesday well the plan is fine i guess but the people who wrote it were tired it shows so what now ' +
    'well the other team can join if they like what do you think about the budget I guess it could be more';
  await paste(said);
  await shows('clean', /On Tuesday/);
  await shows('clean-facts', /weighed by the model/);
  const refined = await cleanText();
  const { edits } = JSON.parse(await saved('json'));
  assert.ok(edits.some((/** @type {any} */ { by }) => by === 'model'), 'the model chose something');

  await page.locator('#clean mark.delete').first().click({ force: true });
  assert.match(await cleanText(), /^um /i);
  await page.locator('#raw').focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' and then');
  await shows('clean', /and then/);
  const longer = await cleanText();
  assert.match(longer, /^um /i, 'undone is undone');
  assert.equal(longer.slice(0, 30).replace(/^um /i, '').toLowerCase(), refined.slice(0, 27).toLowerCase());
});

test('nothing was asked of the network, and nothing went wrong unseen', () => {
  // Saving makes a blob: address, which is memory of this page.
  assert.deepEqual(tab.requests.filter((url) => !url.startsWith('blob:')), []);
  assert.deepEqual(tab.faults, []);
});

test('a file that is no model is refused in words, and the model that works stays', { timeout: PATIENCE }, async () => {
  await tab.context.setOffline(false);
  await page.locator('#models summary').click();
  await page.locator('#model-file').setInputFiles({ name: 'zip.gguf', mimeType: '', buffer: Buffer.from('PK\u0003\u0004....') });
  await shows('problem-text', /not a GGUF file.*corrupt-model/);
  const box = await page.locator('#problem').boundingBox();
  assert.ok(box && box.y >= 0 && box.y + box.height <= 900, 'it is in sight, far down on the page');
  await shows('model-state', /could not be loaded\. .* is ready/);
  await picture(page, 'problem');
  await page.locator('#raw').fill(note);
  assert.ok(await page.locator('#run').isEnabled(), 'the old model still answers');
  await page.locator('#model-file').setInputFiles(site.modelPath);
  await shows('model-state', /Reading/);
  await page.locator('#model-cancel').click();
  await shows('model-state', /cancelled\. .* is ready/);
});

test('an address elsewhere is refused by the policy, and the page says so and what to do', { timeout: PATIENCE }, async () => {
  const { page: fresh, context } = await site.page();
  await fresh.goto(site.url);
  await fresh.waitForFunction(() => /is ready/.test(document.getElementById('model-state')?.textContent ?? ''));
  await fresh.locator('#models summary').click();
  await fresh.locator('#model-url').fill('https://models.example/m.gguf?token=secret');
  await fresh.locator('#model-from-url button').click();
  await fresh.locator('#problem').waitFor();
  assert.match(await fresh.locator('#problem-text').innerText(), /policy of this page forbids it to fetch from https:\/\/models\.example\. Download the file and open it here, under Models\. csp-blocked$/);
  assert.match(await fresh.locator('#model-state').innerText(), /is ready/, 'the one that works stays');
  await context.close();
});

test('kept models are listed, verified and removed', { timeout: PATIENCE }, async () => {
  await shows('kept', /SmolLM2-135M-Instruct.*98 MB/);
  await page.locator('#kept button', { hasText: 'Verify' }).click();
  await shows('kept', /intact/);
  await page.locator('#model-url').fill('/models/default.gguf');
  await page.locator('#model-from-url button').click();
  await shows('model-state', /default is ready/);
  await page.locator('#kept-clear').click();
  await shows('kept-note', /Nothing is kept yet/);
});

for (const place of /** @type {const} */ (['available', 'unavailable'])) {
  test(`dictation where recognition on the device is ${place}`, { timeout: PATIENCE }, async () => {
    const { page: fresh, context, faults } = await site.page();
    await fresh.addInitScript((answer) => {
      class Recognition extends EventTarget {
        static available = async () => answer;
        start() {
          /** @type {any} */ (window).recognition = this;
        }
        stop() {
          this.dispatchEvent(new Event('end'));
        }
      }
      /** @type {any} */ (window).SpeechRecognition = Recognition;
    }, place);
    await fresh.goto(site.url);
    await fresh.locator('#dictate').click();
    if (place === 'unavailable') {
      await fresh.locator('#dictation-consent').waitFor();
      assert.match(await fresh.locator('#dictation-consent').innerText(), /sends the sound away/);
      await picture(fresh, 'dictation-warning');
      await fresh.getByText('Do not dictate').click();
      assert.equal(await fresh.evaluate(() => /** @type {any} */ (window).recognition), undefined, 'nothing was sent');
      await fresh.locator('#dictate').click();
      await fresh.getByText('Dictate all the same').click();
    }
    await fresh.waitForFunction(() => /** @type {any} */ (window).recognition);
    assert.equal(await fresh.evaluate(() => Boolean(/** @type {any} */ (window).recognition.processLocally)), place === 'available');
    const say = (/** @type {string} */ said, /** @type {boolean} */ isFinal) => fresh.evaluate(([transcript, final]) => {
      const result = Object.assign([{ transcript }], { isFinal: final });
      /** @type {any} */ (window).recognition.dispatchEvent(Object.assign(new Event('result'), { resultIndex: 0, results: [result] }));
    }, /** @type {const} */ ([said, isFinal]));
    await say('um so', false);
    assert.match(await fresh.locator('#dictation-state').innerText(), /um so/);
    await say('um so I will call Tom', true);
    await say('uh tomorrow', true);
    await fresh.waitForFunction(() => /call Tom tomorrow/.test(document.getElementById('clean')?.textContent ?? ''));
    assert.equal(await fresh.locator('#raw').inputValue(), 'um so I will call Tom uh tomorrow');
    await fresh.locator('#dictate').click();
    assert.equal(await fresh.locator('#dictate').innerText(), 'Dictate');
    assert.deepEqual(faults, []);
    await context.close();
  });
}

test('without the network the page opens again with its text and its model, cleans, and is isolated', { timeout: PATIENCE }, async () => {
  const { page: fresh, context } = await site.page();
  await fresh.goto(site.url);
  await fresh.evaluate(() => navigator.serviceWorker.ready);
  await fresh.locator('#file').setInputFiles({ name: 'note.srt', mimeType: '', buffer: readFileSync(new URL('../data/transcripts/note.srt', import.meta.url)) });
  const ready = () => fresh.waitForFunction(() => /is ready/.test(document.getElementById('model-state')?.textContent ?? ''));
  await ready();
  const state = await fresh.locator('#model-state').innerText();
  const said = await fresh.locator('#raw').inputValue();
  await context.setOffline(true);
  await fresh.reload();
  assert.equal(await fresh.locator('#raw').inputValue(), said);
  assert.match(await fresh.locator('#raw-facts').innerText(), /0:09/, 'with its times');
  await ready();
  assert.equal(await fresh.locator('#model-state').innerText(), state);
  await fresh.locator('#clear').click();
  await fresh.reload();
  assert.equal(await fresh.locator('#raw').inputValue(), '', 'what was cleared is forgotten');
  await fresh.locator('#raw').fill('um it works offline');
  await fresh.waitForFunction(() => document.getElementById('clean')?.textContent === 'It works offline.');
  assert.ok(await fresh.evaluate(() => crossOriginIsolated));
  await context.close();
});

test('a model that costs a download is offered, and once it is kept it is there', { timeout: PATIENCE }, async () => {
  const { page: fresh, context } = await site.page();
  await context.route('**/models/manifest.json', async (route) => {
    const { models } = await (await route.fetch()).json();
    await route.fulfill({ json: { models: models.map((/** @type {object} */ offer) => ({ ...offer, autoload: false })) } });
  });
  await fresh.goto(site.url);
  await fresh.locator('#model-load').click();
  const ready = () => fresh.waitForFunction(() => /is ready/.test(document.getElementById('model-state')?.textContent ?? ''));
  await ready();
  await fresh.reload();
  await ready();
  assert.ok(await fresh.locator('#model-load').isHidden());
  await context.close();
});

test('a host that cannot send headers has them from the service worker', { timeout: PATIENCE }, async () => {
  const host = await serve({ port: 0, bare: true });
  const context = await site.browser.newContext();
  const fresh = await context.newPage();
  await fresh.goto(host.url);
  await fresh.waitForFunction(() => crossOriginIsolated, undefined, { timeout: 60_000 });
  const policy = await fresh.evaluate(async () => (await fetch('src/worker.js')).headers.get('content-security-policy'));
  assert.match(policy ?? '', /^default-src 'none';.* connect-src 'self';/, 'a worker obeys what comes with its script');
  await context.close();
  await host.close();
});

test('a browser that cannot run it is told so in a sentence, and nothing is promised', { timeout: PATIENCE }, async () => {
  for (const [reason, init] of /** @type {const} */ ([
    [/WebAssembly SIMD is missing/, () => (WebAssembly.validate = () => false)],
    [/WebAssembly is missing or switched off/, () => delete (/** @type {any} */ (globalThis).WebAssembly)],
  ])) {
    const { page: fresh, context } = await site.page();
    await fresh.addInitScript(init);
    await fresh.goto(site.url);
    await fresh.locator('#problem').waitFor();
    const told = await fresh.locator('#problem-text').innerText();
    assert.match(told, /^Fairhand cannot start in this browser\./);
    assert.match(told, reason);
    assert.match(told, /Use a current browser\. unsupported-environment$/);
    assert.ok(await fresh.locator('#run').isDisabled());
    assert.match(await fresh.locator('#model-state').innerText(), /needs another browser/);
    await context.close();
  }
});

test('the first view is light', { timeout: PATIENCE }, async () => {
  const { page: fresh, context } = await site.page();
  /** @type {Map<string, number>} */
  const seen = new Map();
  const sizes = /** @type {Promise<void>[]} */ ([]);
  fresh.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!/\.(wasm|bin|gguf)$/.test(pathname)) sizes.push(response.body().then((body) => void seen.set(pathname, gzipSync(body).length), () => {}));
  });
  await context.addInitScript(() => Object.defineProperty(navigator, 'serviceWorker', { value: undefined }));
  await fresh.goto(site.url);
  await fresh.locator('#raw').fill('um yes');
  await fresh.waitForFunction(() => document.getElementById('clean')?.textContent === 'Yes.');
  await Promise.all(sizes);
  const bytes = [...seen.values()].reduce((sum, size) => sum + size, 0);
  console.log(`first view: ${(bytes / 1000).toFixed(0)} kB before the engine, in ${seen.size} files`);
  assert.ok(bytes <= 150_000, `${bytes} bytes`);
  await context.close();
});

test('no accessibility violations, in light and dark, empty, filled, open and in trouble', { timeout: PATIENCE }, async () => {
  const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const { page: fresh, context } = await site.page({ colorScheme, reducedMotion: 'reduce', bypassCSP: true });
    await fresh.goto(site.url);
    await fresh.addScriptTag({ content: axe });
    const check = async (/** @type {string} */ when) => {
      const { violations } = await fresh.evaluate(() => /** @type {any} */ (window).axe.run(document, { resultTypes: ['violations'] }));
      const told = violations.map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes.map((/** @type {any} */ node) => node.target).join(' ')}`);
      assert.deepEqual(told, [], `${colorScheme}, ${when}`);
    };
    await check('empty');
    await fresh.locator('#sample').click();
    await fresh.waitForFunction(() => document.querySelectorAll('#clean mark').length > 5);
    await fresh.locator('#kinds button').first().click();
    await fresh.locator('#models').evaluate((element) => element.setAttribute('open', ''));
    await fresh.locator('#model-file').setInputFiles({ name: 'zip.gguf', mimeType: '', buffer: Buffer.from('PK\u0003\u0004....') });
    await fresh.locator('#problem').waitFor();
    await check('filled');
    await context.close();
  }
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
    const cut = await fresh.evaluate(() => [...document.querySelectorAll('.facts')].filter((facts) => facts.scrollWidth > facts.clientWidth + 1).map(({ textContent }) => textContent));
    assert.deepEqual(cut, [], `${name} cuts facts short`);
    assert.match(await fresh.locator('#model-state').innerText(), /No model yet/);
    assert.ok(await fresh.locator('#run').isDisabled());
    assert.deepEqual(faults, []);
    await context.close();
  }
});
