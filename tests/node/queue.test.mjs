import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from '../../dist/src/queue.js';
import { random } from './random.mjs';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('one at a time, in order, and a failure passes the turn on', async () => {
  const queue = new Queue();
  /** @type {string[]} */
  const log = [];
  const work = (/** @type {string} */ name) => async () => {
    log.push(`${name} in`);
    await turn();
    log.push(`${name} out`);
    if (name === 'b') throw new Error('b failed');
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.run(undefined, work(name))));
  assert.deepEqual(log, ['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
});

test('random schedules with cancels: order kept, each entry ends once, nothing waits for ever', async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    const queue = new Queue();
    let running = 0;
    /** @type {number[]} */
    const started = [];
    const entries = Array.from({ length: 12 }, (_, index) => {
      const cancel = new AbortController();
      const result = queue.run(cancel.signal, async () => {
        assert.equal(++running, 1);
        started.push(index);
        for (let n = next(3); n > 0; n--) await turn();
        running--;
        if (next(4) === 0) throw new Error('failed');
      });
      return { cancel, result };
    });
    const all = Promise.allSettled(entries.map(({ result }) => result));
    for (let n = 0; n < 6; n++) {
      entries[next(entries.length)].cancel.abort();
      if (next(2)) await turn();
    }
    const results = await all;
    assert.deepEqual(started, [...started].sort((a, b) => a - b), `seed ${seed}`);
    results.forEach((result, index) => {
      const cancelled = result.status === 'rejected' && result.reason.code === 'aborted';
      assert.equal(cancelled, !started.includes(index), `seed ${seed}, entry ${index}`);
    });
    assert.equal(await queue.run(undefined, async () => 'free'), 'free');
  }
});
