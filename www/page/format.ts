// Numbers and times as people read them.

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

export function bytes(n: number): string {
  if (n < 1e6) return `${Math.round(n / 1e3)} kB`;
  const [amount, unit] = n < 1e9 ? [n / 1e6, 'MB'] : [n / 1e9, 'GB'];
  return `${amount.toFixed(amount < 10 ? 1 : 0)} ${unit}`;
}

export function percent(done: number, total: number | null): string {
  return total ? `${Math.min(100, Math.floor((100 * done) / total))} %` : '';
}

/** Seconds as m:ss or h:mm:ss. */
export function clock(seconds: number): string {
  const s = Math.round(seconds);
  const parts = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60];
  if (!parts[0]) parts.shift();
  return parts.map((part, i) => (i ? String(part).padStart(2, '0') : String(part))).join(':');
}

export function words(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
