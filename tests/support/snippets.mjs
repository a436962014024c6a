// The examples of the documentation, as a reader would copy them.
import { readFileSync } from 'node:fs';

/** @param {string} path from the top of the checkout @param {string} language @returns {{ where: string, code: string }[]} */
export function snippets(path, language) {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...blocks].map(({ index, 1: code }) => ({ where: `${path}:${text.slice(0, index).split('\n').length + 1}`, code: code ?? '' }));
}
