// npm run build: the npm package in pkg/ and the site in dist/.
//   npm run build -- web     without Rust: around the wasm of the last whole build
import { main } from './lib/fail.mjs';
import { rust } from './steps/rust.mjs';
import { buildWithinBudget, web } from './steps/site.mjs';

await main(async () => {
  if (process.argv[2] === 'web') return web();
  await rust();
  await buildWithinBudget();
});
