// One request for a model's bytes: what is asked, and what the answer says of itself.
import { abortError, FairhandError } from '../errors.js';
import type { RemoteModel } from '../types.js';

export interface Answer {
  /** Where its first byte stands in the model. */
  start: number;
  /** Bytes of the whole model, where the answer tells. */
  total: number | undefined;
  /** What tells this version of the file from others; absent where the server does not say. */
  validator: string | undefined;
  body: ReadableStream<Uint8Array>;
}

/**
 * Asks for a model from a byte on. A server may answer with all of it all the same.
 * @throws FairhandError `network`; `csp-blocked` where the page's own policy forbids the request; `http` with `detail.status`;
 *   `corrupt-model` for a web page; `aborted`; `invalid-argument`
 */
export async function ask({ url, init }: RemoteModel, from: number, signal?: AbortSignal): Promise<Answer> {
  const where = redacted(url);
  if (hasCredentials(url)) {
    throw new FairhandError('invalid-argument', `The address of ${where} holds credentials: send them in init.headers.`);
  }
  const headers = checkedHeaders(init?.headers);
  if (from > 0) headers.set('range', `bytes=${from}-`);
  let response: Response;
  const policy = watchPolicy(url);
  try {
    response = await fetch(url, { ...init, headers, ...(signal && { signal }) });
  } catch (error) {
    if (signal?.aborted) throw abortError(signal);
    if (await policy.forbids()) {
      const message = `The policy of this page forbids it to fetch from ${parsed(url).origin}.`;
      throw new FairhandError('csp-blocked', message, { detail: { directive: 'connect-src' } });
    }
    throw new FairhandError('network', `${where} cannot be reached.`, { retryable: true, cause: error });
  } finally {
    policy.end();
  }
  const { status, body } = response;
  if (!response.ok || !body) {
    void body?.cancel();
    const retryable = status >= 500 || status === 408 || status === 429;
    throw new FairhandError('http', `${where} answered with status ${status}.`, { retryable, detail: { status } });
  }
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/html\b/i.test(type)) {
    void body.cancel();
    throw new FairhandError('corrupt-model', `${where} is a web page, not a model.`, { detail: { contentType: type } });
  }
  return { ...placed(response, from), validator: validator(response), body };
}

/** Fetch fails alike without a network and by the page's policy; the browser tells of the latter in an event, a moment later. */
function watchPolicy(url: string | URL): { forbids(): Promise<boolean>; end(): void } {
  const scope = globalThis as Partial<Pick<typeof globalThis, 'addEventListener' | 'removeEventListener'>>;
  const { origin } = parsed(url);
  let forbidden = false;
  const hear = (event: Event) => {
    const { effectiveDirective, blockedURI } = event as SecurityPolicyViolationEvent;
    forbidden ||= effectiveDirective === 'connect-src' && blockedURI.startsWith(origin);
  };
  scope.addEventListener?.('securitypolicyviolation', hear);
  return {
    async forbids() {
      if (!forbidden && scope.addEventListener) await new Promise((resolve) => setTimeout(resolve, 50));
      return forbidden;
    },
    end: () => scope.removeEventListener?.('securitypolicyviolation', hear),
  };
}

function placed({ status, headers }: Response, from: number): { start: number; total: number | undefined } {
  // A compressed body is longer than the length that travels.
  const length = headers.has('content-encoding') ? undefined : whole(headers.get('content-length'));
  if (status !== 206) return { start: 0, total: length };
  // Other origins may hide this header; then the answer is what was asked for.
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
  const start = whole(range?.[1] ?? null) ?? from;
  return { start, total: whole(range?.[2] ?? null) ?? (length === undefined ? undefined : start + length) };
}

/** A compressed answer cannot be resumed: its ranges would be of the compressed bytes. */
function validator({ headers }: Response): string | undefined {
  if (headers.has('content-encoding')) return undefined;
  return headers.get('etag') ?? headers.get('last-modified') ?? undefined;
}

function whole(text: string | null): number | undefined {
  const value = text === null || text === '' ? NaN : Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The browser's own message would quote a header that it refuses, and that may be a token. */
export function checkedHeaders(headers: HeadersInit | undefined): Headers {
  try {
    return new Headers(headers);
  } catch {
    throw new FairhandError('invalid-argument', 'init.headers holds a header that cannot be sent.');
  }
}

/** A URL as a message may show it: no credentials, no query (tokens travel there), no fragment. */
export function redacted(url: string | URL): string {
  const { origin, protocol, pathname } = parsed(url);
  return origin === 'null' ? `${protocol}${pathname}` : origin + pathname;
}

/** Fetch refuses such an address with a message that quotes it. */
function hasCredentials(url: string | URL): boolean {
  const { username, password } = parsed(url);
  return username !== '' || password !== '';
}

/**
 * An address in full. A relative one is relative to the page (in a worker there is no page: there it must be absolute).
 * @throws FairhandError `invalid-argument`
 */
export function parsed(url: string | URL): URL {
  try {
    return new URL(url, typeof document === 'undefined' ? undefined : document.baseURI);
  } catch {
    throw new FairhandError('invalid-argument', 'The address is not a URL.'); // the cause would quote it
  }
}
