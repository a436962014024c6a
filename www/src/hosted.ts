// What the host puts around a call: its cache of answers before, its recorder after.
import type { RunOptions } from './backend.js';
import { Sha256 } from './cache/sha256.js';
import { FairhandError, throwIfAborted } from './errors.js';
import type { JobRequest, JobResult } from './protocol.js';
import type { AnswerCache, AnswerKey, Attempt, CallRecord, Provenance, Recorder } from './types.js';

export interface Host {
  recorder?: Recorder | undefined;
  answers?: AnswerCache | undefined;
  /** Of the engine, now. */
  fingerprint(): Promise<string>;
}

/** Works a request out. */
type Work = (request: JobRequest, run: RunOptions) => Promise<JobResult>;

let calls = 0;

/**
 * Makes a call: from the cache, or by `work` and into it. `read` sees the result before anybody is told that it is one.
 * @throws what `work` and `read` throw; `callback-failed` for a recorder that throws after a call that went well
 */
export function call<R>(host: Host, request: JobRequest, run: RunOptions, work: Work, read: (result: JobResult) => R): Promise<R> {
  const { recorder } = host;
  if (recorder) return recorded(recorder, host, request, run, work, read);
  return host.answers ? answered(host.answers, host, request, run, work, read).then(read) : work(request, run).then(read);
}

async function recorded<R>(recorder: Recorder, host: Host, request: JobRequest, run: RunOptions, work: Work, read: (result: JobResult) => R): Promise<R> {
  const [began, startedAt] = [performance.now(), Date.now()];
  const record: CallRecord = { callId: callId(), task: request.task, startedAt, totalMs: 0, attempts: [] };
  const onAttempts = (attempts: Attempt[]) => (record.attempts = attempts);
  let outcome: { value: R } | { failure: unknown };
  try {
    const [noted, heard] = [{ ...request, record: true }, { ...run, onAttempts }];
    const result = await (host.answers ? answered(host.answers, host, noted, heard, work, read) : work(noted, heard));
    const { model } = result.provenance;
    Object.assign(record, { provenance: result.provenance, usage: result.usage }, model !== undefined && { model });
    outcome = { value: read(result) };
  } catch (failure) {
    outcome = { failure };
    const { code = 'internal', message = '' } = (failure ?? {}) as Partial<FairhandError>;
    record.error = { code, message };
  }
  const profile = record.provenance?.profile ?? request.profile;
  const { session } = request;
  Object.assign(record, { totalMs: performance.now() - began }, profile !== undefined && { profile }, session !== undefined && { session });
  try {
    await recorder(record);
  } catch (cause) {
    // A call's own error is what its caller has to hear.
    if ('value' in outcome) throw new FairhandError('callback-failed', 'The recorder has thrown, so the call was ended.', { cause });
  }
  if ('failure' in outcome) throw outcome.failure;
  return outcome.value;
}

/** The stored answer to a request, or a new one, which is then stored. */
async function answered(
  answers: AnswerCache,
  host: Host,
  request: JobRequest,
  run: RunOptions,
  work: Work,
  read: (result: JobResult) => unknown,
): Promise<JobResult> {
  const began = performance.now();
  throwIfAborted(run.signal);
  const key = await keyOf(host, request);
  const stored = await attempt(async () => parsed(await answers.get(key)));
  throwIfAborted(run.signal);
  if (stored) {
    const text = stored['text'] ?? stored['raw'];
    if (request.task !== 'cleanup' && typeof text === 'string') run.onToken?.(text);
    const provenance: Provenance = { ...stored.provenance, cached: true };
    // The series that it belongs to is this call's.
    delete provenance.session;
    if (request.session !== undefined) provenance.session = request.session;
    const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, forcedTokens: 0, queueMs: 0, totalMs: performance.now() - began };
    return { ...stored, provenance, usage };
  }
  const result = await work(request, run);
  read(result); // what cannot be read is not worth keeping
  await attempt(async () => answers.set(key, JSON.stringify(result)));
  return result;
}

async function keyOf(host: Host, { record: _, session: __, timeoutMs: ___, ...request }: JobRequest): Promise<AnswerKey> {
  const input = new Sha256().update(new TextEncoder().encode(canonical(request))).hex();
  return { fingerprint: await host.fingerprint(), input };
}

/** JSON in which the order of an object's fields says nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function parsed(answer: string | undefined): JobResult | undefined {
  if (typeof answer !== 'string') return undefined;
  const value = JSON.parse(answer) as JobResult | null;
  return typeof value === 'object' && value !== null && typeof value.provenance === 'object' ? value : undefined;
}

/** Does without a cache that fails: the call can be worked out all the same. */
async function attempt<T>(use: () => Promise<T>): Promise<T | undefined> {
  try {
    return await use();
  } catch {
    return undefined;
  }
}

function callId(): string {
  return (globalThis.crypto as { randomUUID?: () => string } | undefined)?.randomUUID?.() ?? `call-${Date.now()}-${++calls}`;
}
