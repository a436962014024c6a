import { serve } from './lib/serve.mjs';
import { launch } from './lib/browser.mjs';
const path='/root/.cache/fairhand/models/SmolLM2-135M-Instruct.Q4_1.gguf';
const server = await serve({ port: 0, model: path });
const browser = await launch();
try {
  const page = await browser.newPage();
  page.on('console', m => console.log('page:', m.text())); page.on('pageerror', e => console.log('err', e.message));
  await page.goto(new URL('models/manifest.json', server.url).href);
  const out = await page.evaluate(async () => {
    const { load } = await import(`${location.origin}/src/index.js`);
    const res = [];
    for (let i = 0; i < 4; i++) {
      const t0 = performance.now(); const seen = {}; let last;
      const e = await load(`${location.origin}/models/default.gguf`, { threads: 1, onProgress: (p) => { const t = Math.round(performance.now() - t0); seen[p.phase] ??= [t,t]; seen[p.phase][1] = t; } });
      const ready = Math.round(performance.now() - t0);
      await e.complete({ prompt: 'Hello', maxTokens: 1 });
      res.push({ ...seen, ready, first: Math.round(performance.now() - t0), storage: e.info.storage });
      await e.dispose();
    }
    return res;
  });
  console.log(out.map((x) => JSON.stringify(x)).join('\n'));
} finally { await browser.close(); await server.close(); }
