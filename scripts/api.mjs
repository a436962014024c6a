// npm run api: docs/api.md, made from the declarations that the package carries.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './lib/fail.mjs';
import { root } from './lib/paths.mjs';

/** The files of the public interface, what each is about, and which of its names are public: all, unless listed.
 * @type {[string, string, string, string[]?][]} */
const files = [
  ['index.d.ts', 'Loading', '`import … from \'fairhand\'`; with `fairhand/local` the same runs in the calling thread.'],
  ['types.d.ts', 'Types', ''],
  ['errors.d.ts', 'Errors', 'Whatever fails rejects with a `FairhandError`. Its `code` is stable.', ['ErrorCode', 'ErrorExtras', 'FairhandError']],
  ['testing.d.ts', 'A stand-in for tests', '`import … from \'fairhand/testing\'`'],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => writeFileSync(join(root, 'docs', 'api.md'), reference((name) => readFileSync(join(root, 'pkg', name), 'utf8'))));
}

/** @param {(name: string) => string} read gives a declaration file's text */
export function reference(read) {
  const parts = ['# API', 'Made from the package\'s types by `npm run api`. Offsets are UTF-16 code units, times in milliseconds unless a name says otherwise.'];
  for (const [name, title, about, names] of files) {
    parts.push(`## ${title}`);
    if (about) parts.push(about);
    for (const { heading, comment, code } of declarations(read(name))) {
      if (names && !names.some((wanted) => heading.endsWith(`\`${wanted}\``))) continue;
      parts.push(`### ${heading}`);
      if (comment) parts.push(comment);
      parts.push(`\`\`\`ts\n${code}\n\`\`\``);
    }
  }
  return `${parts.join('\n\n')}\n`;
}

/** The exported declarations of a file, in its order, each with the comment before it. @param {string} text */
export function declarations(text) {
  const found = [];
  const pattern = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export (?:declare )?(?:abstract )?(interface|type|function|class|const) (\w+)/gm;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const start = match.index + match[0].lastIndexOf('export ');
    const end = endOf(text, start);
    found.push({ heading: `${match[2]} \`${match[3]}\``, comment: plain(match[1] ?? ''), code: text.slice(start, end).trim() });
    pattern.lastIndex = end;
  }
  return found;
}

/** Where a declaration ends: at the line that closes what it opened, or that ends it with a semicolon. @param {string} text @param {number} start */
function endOf(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text.startsWith('/*', at)) at = text.indexOf('*/', at) + 1;
    else if ('{(['.includes(text[at])) depth++;
    else if ('})]'.includes(text[at])) {
      if (--depth === 0 && text[at] === '}' && /^\s*(\n|$)/.test(text.slice(at + 1))) return at + 1;
    } else if (text[at] === ';' && depth === 0) return at + 1;
  }
  return text.length;
}

/** @param {string} comment */
function plain(comment) {
  return comment
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .replace(/\{@link ([^}]+)\}/g, '`$1`')
    .replace(/^@throws (.*)/gm, 'Rejects with $1')
    .trim();
}
