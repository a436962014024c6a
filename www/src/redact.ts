// What a message may show of an address or a header: never a credential. Foreign errors quote both.

const rules: [RegExp, string][] = [
  // Credentials before the host, then everything after the path: tokens travel in queries, and in fragments.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#'"@]+@/gi, '$1'],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s?#'"<>]*)[?#][^\s'"<>]*/gi, '$1'],
  // An address without its beginning.
  [/[?&][\w.~%-]+=[^\s'"<>]*/g, ''],
  [/\b(bearer|basic|digest)\s+[^\s'",;]+/gi, '$1 …'],
  [/\b(authorization|cookie|x-api-key|api[-_]?key|access[-_]?token|auth[-_]?token|token|secret|password)(["']?\s*[:=]\s*["']?)(?!(?:bearer|basic|digest) …)[^\s'",;]+/gi, '$1$2…'],
];

/** A text without the credentials in it. */
export function redact(text: string): string {
  return rules.reduce((redacted, [pattern, instead]) => redacted.replace(pattern, instead), text);
}

/** An error of the browser's as a cause may show it: its own stack would quote its message. */
export function redactedError(error: Error): Error {
  const { name, message } = error;
  const redacted = new Error(redact(message));
  redacted.name = name;
  redacted.stack = `${name}: ${redacted.message}`;
  return redacted;
}
