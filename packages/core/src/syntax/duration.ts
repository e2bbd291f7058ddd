import { GatewayError } from '../errors.ts';

const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const WHOLE = /^-?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g;
const LONGEST_MS = 315_576_000_000_000;
const LONGEST_TEXT = 64;

/**
 * Returns the milliseconds of a duration, with fractions. Units are `ns us ms s m h`, and can be combined; `0` needs none.
 * At most 10,000 years; negative durations are rejected. Throws `ERR_CORE_DURATION`.
 *
 * @example
 * parseDuration('1h30m'); // 5400000
 * parseDuration('0.25s'); // 250
 */
export function parseDuration(text: string): number {
  if (text === '0') return 0;
  if (text.length > LONGEST_TEXT || !WHOLE.test(text)) throw refuse(text.slice(0, LONGEST_TEXT), 'is not a duration');
  if (text.startsWith('-')) throw refuse(text, 'is negative');
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * MILLISECONDS[unit!]!;
  if (total > LONGEST_MS) throw refuse(text, 'is longer than 10,000 years');
  // Sums such as 0.1s + 0.2s should not show the binary fraction.
  return Math.round(total * 1e6) / 1e6;
}

/**
 * Returns a duration as the delay of a Node timer: whole milliseconds, rounded up. `undefined`
 * without a duration. Throws `ERR_CORE_DURATION`.
 *
 * @example
 * delayOf('0.5ms'); // 1
 * delayOf(undefined) ?? 15_000; // 15000
 */
export function delayOf(duration: string): number;
export function delayOf(duration: string | undefined): number | undefined;
export function delayOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : Math.ceil(parseDuration(duration));
}

function refuse(text: string, why: string): GatewayError {
  return new GatewayError(`"${text}" ${why}`, { code: 'ERR_CORE_DURATION' });
}
