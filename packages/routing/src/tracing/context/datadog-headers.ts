import { isSpanId, type ContextFormat } from './trace-context.ts';

const DECIMAL = /^\d{1,20}$/;
const MAX_ID = 2n ** 64n - 1n;
const HIGH_BITS = /(?:^|,)_dd\.p\.tid=([0-9a-f]{16})(?:,|$)/;

/** Returns a decimal id of 64 bits in hexadecimal; `undefined` for an invalid one. */
function hexOf(decimal: string | undefined): string | undefined {
  if (decimal === undefined || !DECIMAL.test(decimal)) return undefined;
  const id = BigInt(decimal);
  return id > MAX_ID || id === 0n ? undefined : id.toString(16).padStart(16, '0');
}

const decimalOf = (hex: string): string => BigInt(`0x${hex}`).toString();

/** `x-datadog-trace-id`, `x-datadog-parent-id`, `x-datadog-sampling-priority`, `x-datadog-origin` and `x-datadog-tags`. */
export const DATADOG: ContextFormat = {
  name: 'datadog',
  headers: [
    'x-datadog-trace-id',
    'x-datadog-parent-id',
    'x-datadog-sampling-priority',
    'x-datadog-origin',
    'x-datadog-tags',
  ],
  extract(header) {
    const low = hexOf(header('x-datadog-trace-id'));
    const spanId = hexOf(header('x-datadog-parent-id'));
    if (low === undefined || spanId === undefined || !isSpanId(spanId)) return undefined;
    const high = HIGH_BITS.exec(header('x-datadog-tags') ?? '')?.[1] ?? '0'.repeat(16);
    const priority = Number(header('x-datadog-sampling-priority') ?? Number.NaN);
    const origin = header('x-datadog-origin');
    return {
      traceId: high + low,
      spanId,
      sampled: Number.isNaN(priority) ? undefined : priority > 0,
      ...(origin !== undefined && { origin }),
    };
  },
  inject(flat, { traceId, spanId, sampled, origin }) {
    const high = traceId.slice(0, 16);
    flat.push('x-datadog-trace-id', decimalOf(traceId.slice(16)), 'x-datadog-parent-id', decimalOf(spanId));
    flat.push('x-datadog-sampling-priority', sampled ? '1' : '0');
    if (origin !== undefined) flat.push('x-datadog-origin', origin);
    if (!/^0+$/.test(high)) flat.push('x-datadog-tags', `_dd.p.tid=${high}`);
  },
};
