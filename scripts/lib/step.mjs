// A step of the set-up: found, or made and found again.
import { Failure } from './fail.mjs';

/** Tells the person at the keyboard; results alone go to standard output. @param {string} line */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Defines a step. Calling the result gives what the step finds; the work runs only when nothing is there yet, and
 * once per process.
 * @template T
 * @param {string} title what the step provides, as a person would name it
 * @param {object} parts
 * @param {() => T | undefined | Promise<T | undefined>} parts.find looks for it; undefined when it is not there
 * @param {() => Promise<unknown>} [parts.make] gets it
 * @param {string} parts.work what `make` does, for the line printed before it
 * @param {string} parts.advice one sentence: what to do when it cannot be had
 * @param {(found: T) => string} [parts.describe] what was found, in a few words
 * @returns {() => Promise<T>}
 */
export function step(title, { find, make, work, advice, describe }) {
  /** @type {Promise<T> | undefined} */
  let result;
  const ensure = async () => {
    let found = await find();
    if (found === undefined && make) {
      say(`• ${title}: ${work} …`);
      const start = Date.now();
      await make();
      found = await find();
      if (found !== undefined) say(`✓ ${title}: done in ${seconds(start)}`);
    } else if (found !== undefined) {
      say(`✓ ${title}${describe ? `: ${describe(found)}` : ''}`);
    }
    if (found === undefined) throw new Failure(advice);
    return found;
  };
  return () => (result ??= ensure());
}

/** Time since `start`, as a person reads it. @param {number} start */
export function seconds(start) {
  const s = (Date.now() - start) / 1000;
  return s < 100 ? `${s.toFixed(1)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

/** Bytes in decimal units. @param {number} n */
export function bytes(n) {
  return n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(2)} MB`;
}

/**
 * A progress line: redrawn in place on a terminal, one line per tenth elsewhere.
 * @param {string} label
 * @param {number | undefined} total
 * @returns {(done: number) => void}
 */
export function meter(label, total) {
  let shown = -1;
  return (done) => {
    const percent = total ? Math.floor((100 * done) / total) : Math.floor(done / 1e6);
    if (percent === shown) return;
    const text = `  ${label}: ${bytes(done)}${total ? ` of ${bytes(total)} (${percent} %)` : ''}`;
    if (process.stderr.isTTY) process.stderr.write(`\r${text}${total && done >= total ? '\n' : ''}`);
    else if (shown < 0 || Math.floor(percent / 10) > Math.floor(shown / 10)) say(text);
    shown = percent;
  };
}
