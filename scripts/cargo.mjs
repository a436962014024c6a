// npm run cargo -- ARGS: cargo, with the cache as its target directory and the processor's fast instructions.
import { main } from './lib/fail.mjs';
import { root } from './lib/paths.mjs';
import { status } from './lib/run.mjs';
import { cargoEnvironment } from './steps/rust.mjs';

await main(async () => {
  // Paths in the arguments are the caller's: npm runs scripts at the top of the checkout and says where it was called.
  const cwd = process.env.INIT_CWD?.startsWith(root) ? process.env.INIT_CWD : root;
  process.exitCode = await status('cargo', process.argv.slice(2), { cwd, env: cargoEnvironment() });
});
