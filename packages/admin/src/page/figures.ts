/** Returns a rate per second as text: `0`, `0.4`, `12`, `1,204`. */
export function rateText(rate: number): string {
  if (rate >= 10) return Math.round(rate).toLocaleString('en');
  return String(Number(rate.toFixed(1)));
}

/** Returns a share in percent as text; `–` of nothing. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (100 * part) / whole;
  return `${percent > 0 && percent < 0.1 ? '< 0.1' : Number(percent.toFixed(1))} %`;
}

/** Returns a duration in milliseconds as text: `0.4 ms`, `12 ms`, `1.3 s`; `–` if there is none. */
export function millisecondsText(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(1))} s`;
  return `${ms >= 10 ? Math.round(ms) : Number(ms.toFixed(1))} ms`;
}

/** Returns a number of things as text: `1 listener`, `1,204 listeners`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
