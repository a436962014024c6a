// Runs the contract of the interface in this page, over both implementations, and sends home what came of it.
import { codeOf, contract } from '../support/contract.mjs';

/** @typedef {{ name: string, pairs?: [unknown, unknown][], error?: string }} Outcome */

/** @type {Record<string, { info?: unknown, outcomes: Outcome[] }>} */
const report = {};
for (const entry of ['local', 'index']) {
  const outcomes = /** @type {Outcome[]} */ ([]);
  report[entry] = { outcomes };
  try {
    const { load } = await import(`${location.origin}/src/${entry}.js`);
    const engine = await load(`${location.origin}/models/default.gguf`);
    report[entry].info = engine.info;
    for (const [name, check] of contract) {
      try {
        outcomes.push({ name, pairs: await check({ engine, codeOf }) });
      } catch (error) {
        outcomes.push({ name, error: String(error) });
      }
    }
  } catch (error) {
    outcomes.push({ name: 'loads', error: String(error) });
  }
}
await fetch('report', { method: 'POST', body: JSON.stringify({ isolated: crossOriginIsolated, report }) });
