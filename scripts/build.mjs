// npm run build: the npm package in pkg/ and the site in dist/.
import { main } from './lib/fail.mjs';
import { rust } from './steps/rust.mjs';
import { buildWithinBudget } from './steps/site.mjs';

await main(async () => {
  await rust();
  await buildWithinBudget();
});
