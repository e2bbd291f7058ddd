import { isSpanId, wholeTraceId, type ContextFormat, type TraceContext } from './trace-context.ts';

/** `1`, `true` and `d` (debug) sample; `0` and `false` do not; anything else leaves it open. */
function decisionOf(text: string | undefined): boolean | undefined {
  if (text === '1' || text === 'd' || text === 'true') return true;
  return text === '0' || text === 'false' ? false : undefined;
}

interface Written {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly sampled: boolean | undefined;
}

function contextOf({ traceId: id, spanId, parentId, sampled }: Written): TraceContext | undefined {
  const traceId = wholeTraceId(id);
  if (!traceId || !isSpanId(spanId)) return undefined;
  return { traceId, spanId, sampled, ...(parentId !== undefined && isSpanId(parentId) && { parentId }) };
}

/** Trace ids of 64 bits are sent as they were received. */
const shortened = (traceId: string): string => (traceId.startsWith('0'.repeat(16)) ? traceId.slice(16) : traceId);

/** `x-b3-traceid`, `x-b3-spanid`, `x-b3-parentspanid`, `x-b3-sampled` and `x-b3-flags`. */
export const B3: ContextFormat = {
  name: 'b3',
  headers: ['x-b3-traceid', 'x-b3-spanid', 'x-b3-parentspanid', 'x-b3-sampled', 'x-b3-flags'],
  extract(header) {
    return contextOf({
      traceId: header('x-b3-traceid') ?? '',
      spanId: header('x-b3-spanid') ?? '',
      parentId: header('x-b3-parentspanid'),
      sampled: header('x-b3-flags') === '1' ? true : decisionOf(header('x-b3-sampled')),
    });
  },
  inject(flat, { traceId, spanId, parentId, sampled }) {
    flat.push('x-b3-traceid', shortened(traceId), 'x-b3-spanid', spanId);
    if (parentId !== undefined) flat.push('x-b3-parentspanid', parentId);
    flat.push('x-b3-sampled', sampled ? '1' : '0');
  },
};

/** `b3: <trace>-<span>-<sampled>-<parent>`. */
export const B3_SINGLE: ContextFormat = {
  name: 'b3single',
  headers: ['b3'],
  extract(header) {
    const parts = (header('b3') ?? '').split('-');
    const [traceId = '', spanId = '', sampled, parentId] = parts;
    return parts.length > 4 ? undefined : contextOf({ traceId, spanId, parentId, sampled: decisionOf(sampled) });
  },
  inject(flat, { traceId, spanId, parentId, sampled }) {
    const parent = parentId === undefined ? '' : `-${parentId}`;
    flat.push('b3', `${shortened(traceId)}-${spanId}-${sampled ? '1' : '0'}${parent}`);
  },
};

/** Returns a decision without a trace: `b3: 0`, or `x-b3-sampled` alone. */
export function b3Decision(header: (name: string) => string | undefined): boolean | undefined {
  const single = header('b3');
  if (single === '0' || single === '1' || single === 'd') return decisionOf(single);
  return header('x-b3-flags') === '1' ? true : decisionOf(header('x-b3-sampled'));
}
