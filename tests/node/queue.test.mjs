// The order of service, against a plain list that is searched anew for each permit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE_MS, Queue } from '../../dist/src/queue.js';
import { random } from './random.mjs';

const turn = () => new Promise((resolve) => setImmediate(resolve));
/** When all that follows from what has happened has happened too. */
const settled = async () => {
  for (let n = 0; n < 8; n++) await null;
};

/** Work that goes on until it is told to end. */
function work() {
  let end = () => {};
  const running = new Promise((/** @type {(value: void) => void} */ resolve) => (end = resolve));
  return { running, end };
}

test('a limit that lets nobody begin is refused', () => {
  for (const limit of [0, -1, 0.5, NaN, Infinity]) assert.throws(() => new Queue({ limit }), { code: 'invalid-argument' });
});

test('one at a time, in order, and a failure passes the turn on', async () => {
  const queue = new Queue();
  /** @type {string[]} */
  const log = [];
  const entry = (/** @type {string} */ name) => async () => {
    log.push(`${name} in`);
    await turn();
    log.push(`${name} out`);
    if (name === 'b') throw new Error('b failed');
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.run(undefined, entry(name))));
  assert.deepEqual(log, ['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
});

test('a person goes before background work until its patience ends', async () => {
  let now = 0;
  const queue = new Queue({ now: () => now });
  /** @type {string[]} */
  const started = [];
  const works = [work(), work(), work(), work()];
  const enter = (/** @type {number} */ n, /** @type {'interactive' | 'background'} */ priority) =>
    queue.run(undefined, () => (started.push(`${n}`), works[n].running), priority);
  const entries = [enter(0, 'interactive'), enter(1, 'background')];
  now = 1;
  entries.push(enter(2, 'interactive'));
  now = PATIENCE_MS + 1;
  entries.push(enter(3, 'interactive'));
  for (const { end } of works) {
    end();
    await settled();
  }
  await Promise.all(entries);
  assert.deepEqual(started, ['0', '2', '1', '3'], 'the first person, then who has waited long enough, then the late person');
});

test('background work does not starve, however many people keep coming', async () => {
  let now = 0;
  const queue = new Queue({ now: () => now });
  const first = work();
  const entries = [queue.run(undefined, () => first.running)];
  let served = false;
  entries.push(queue.run(undefined, async () => void (served = true), 'background'));
  let current = first;
  for (let n = 0; n < 200 && !served; n++) {
    // Two people come for each that is served.
    const next = work();
    entries.push(queue.run(undefined, () => next.running), queue.run(undefined, async () => {}));
    now += 100;
    current.end();
    await settled();
    current = next;
    current.end();
  }
  assert.ok(served && now <= PATIENCE_MS + 200, `served after ${now} ms`);
  await Promise.all(entries);
});

test('a cancel at any moment between permit and beginning gives the permit back', async () => {
  for (let ticks = 0; ticks < 14; ticks++) {
    const queue = new Queue();
    const [first, cancel] = [work(), new AbortController()];
    const running = queue.run(undefined, () => first.running);
    let began = false;
    const second = queue.run(cancel.signal, async () => void (began = true)).then(() => 'done', (error) => error.code);
    const third = queue.run(undefined, async () => 'free');
    first.end();
    for (let n = 0; n < ticks; n++) await null;
    cancel.abort();
    assert.equal(await second, began ? 'done' : 'aborted', `after ${ticks} ticks`);
    assert.equal(await third, 'free');
    await running;
  }
});

/**
 * @typedef {{ id: number, priority: 'interactive' | 'background', since: number, cancel: AbortController,
 *   work: ReturnType<typeof work>, state: 'waiting' | 'working' | 'ended' }} Entry
 */

/** Who is next, by definition. @param {Entry[]} waiting @param {number} now */
function nextOf(waiting, now) {
  const turnOf = (/** @type {Entry} */ { priority, since }) => {
    if (priority === 'interactive') return [0, since, 1];
    const promoted = since + PATIENCE_MS;
    return promoted <= now ? [0, promoted, 0] : [1, since, 0];
  };
  return [...waiting].sort((a, b) => {
    const [x, y] = [turnOf(a), turnOf(b)];
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || a.id - b.id;
  })[0];
}

test('10,000 random schedules with cancels: order kept, each permit given back once, nothing waits for ever', async () => {
  for (let seed = 1; seed <= 10_000; seed++) {
    const next = random(seed);
    const limit = 1 + next(3);
    let now = 0;
    const queue = new Queue({ limit, now: () => now });
    /** @type {Entry[]} */
    const entries = [];
    /** @type {number[]} */
    const started = [];
    /** @type {number[]} */
    const expected = [];
    let [running, most] = [0, 0];
    /** @type {Promise<string>[]} */
    const results = [];
    /** What should begin now. */
    const admit = () => {
      for (;;) {
        const waiting = entries.filter(({ state }) => state === 'waiting');
        if (!waiting.length || entries.filter(({ state }) => state === 'working').length >= limit) return;
        const chosen = nextOf(waiting, now);
        chosen.state = 'working';
        expected.push(chosen.id);
      }
    };
    const enter = () => {
      const entry = /** @type {Entry} */ ({ id: entries.length, priority: next(2) ? 'interactive' : 'background', since: now, cancel: new AbortController(), work: work(), state: 'waiting' });
      entries.push(entry);
      const run = async () => {
        started.push(entry.id);
        most = Math.max(most, ++running);
        await entry.work.running;
        running--;
        if (entry.id % 3 === 0) throw new Error('failed');
      };
      results.push(queue.run(entry.cancel.signal, run, entry.priority).then(() => 'done', (error) => error.code ?? error.message));
      admit();
    };
    const end = (/** @type {Entry | undefined} */ entry) => {
      if (entry?.state !== 'working') return;
      entry.state = 'ended';
      entry.work.end();
      admit();
    };
    for (let act = 0; act < 18; act++) {
      const some = entries[next(Math.max(1, entries.length))];
      switch (next(5)) {
        case 0:
        case 1:
          enter();
          break;
        case 2:
          end(some);
          break;
        case 3:
          // Of one that waits: it leaves. Of one that works or has ended: the queue has nothing more to do with it.
          if (some?.state === 'waiting') some.state = 'ended';
          some?.cancel.abort();
          break;
        default:
          now += next(PATIENCE_MS);
      }
      await settled();
    }
    for (let rounds = 0; entries.some(({ state }) => state !== 'ended'); rounds++) {
      assert.ok(rounds <= entries.length, `seed ${seed}: somebody waits for ever`);
      for (const entry of entries.filter(({ state }) => state === 'working')) end(entry);
      await settled();
    }
    const outcomes = await Promise.all(results);
    assert.deepEqual(started, expected, `seed ${seed}: the order`);
    assert.ok(most <= limit, `seed ${seed}: ${most} at work, and ${limit} are allowed`);
    outcomes.forEach((outcome, id) => {
      const wanted = !started.includes(id) ? 'aborted' : id % 3 === 0 ? 'failed' : 'done';
      assert.equal(outcome, wanted, `seed ${seed}, entry ${id}`);
    });
    // All permits are back: as many as the limit can begin at once, and no more.
    const last = Array.from({ length: limit + 1 }, work);
    let begunNow = 0;
    const runs = last.map(({ running }) => queue.run(undefined, () => (begunNow++, running)));
    await settled();
    assert.equal(begunNow, limit, `seed ${seed}: permits lost or doubled`);
    last.forEach(({ end: finish }) => finish());
    await Promise.all(runs);
  }
});
