// Who waits for a signal. However many wait, the signal itself has one listener: a hundred of them would be taken for a leak.

const waiting = new WeakMap<AbortSignal, { calls: Set<() => void>; fire: () => void }>();

/** Calls `call` once when the signal fires, unless the function that is returned has been called before. */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (!signal) return () => {};
  let entry = waiting.get(signal);
  if (!entry) {
    const calls = new Set<() => void>();
    entry = {
      calls,
      fire: () => {
        waiting.delete(signal);
        for (const one of calls) one();
      },
    };
    waiting.set(signal, entry);
    signal.addEventListener('abort', entry.fire, { once: true });
  }
  const { calls, fire } = entry;
  const own = () => call(); // the same function may wait twice
  calls.add(own);
  return () => {
    if (!calls.delete(own) || calls.size > 0 || waiting.get(signal)?.calls !== calls) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', fire);
  };
}
