// npm start: everything the page needs, then the page itself.
//   npm start -- [--model PATH-OR-URL] [--port N]
import { parseArgs } from 'node:util';
import { Failure, main } from './lib/fail.mjs';
import { serve } from './lib/serve.mjs';
import { model } from './steps/model.mjs';
import { npmPackages } from './steps/npm.mjs';
import { rust } from './steps/rust.mjs';
import { build } from './steps/site.mjs';

await main(async () => {
  const { model: choice, port } = readArguments();
  await rust();
  await npmPackages();
  const path = await model(choice);
  await build();
  const { url } = await serve({ port, model: path });
  console.log(`\nFairhand is at ${url}  (Ctrl+C stops it)`);
});

function readArguments() {
  try {
    const { values } = parseArgs({ options: { model: { type: 'string' }, port: { type: 'string', default: '4173' } } });
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`${values.port} is no port number`);
    return { model: values.model, port };
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error}; use \`npm start -- [--model PATH-OR-URL] [--port N]\`.`);
  }
}
