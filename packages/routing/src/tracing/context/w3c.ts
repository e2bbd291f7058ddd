import { isSpanId, wholeTraceId, type ContextFormat } from './trace-context.ts';

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE_CHARS = 512;

/** `traceparent` and `tracestate` (W3C Trace Context). */
export const W3C: ContextFormat = {
  name: 'w3c',
  headers: ['traceparent', 'tracestate'],
  extract(header) {
    const match = PARENT.exec(header('traceparent')?.trim() ?? '');
    if (!match) return undefined;
    const [, version = '', id = '', spanId = '', flags = '', more] = match;
    const traceId = wholeTraceId(id);
    // Version 00 has no more fields; ff is forbidden.
    if (version === 'ff' || (version === '00' && more !== undefined) || !traceId || !isSpanId(spanId)) return undefined;
    const state = header('tracestate');
    return {
      traceId,
      spanId,
      sampled: (Number.parseInt(flags, 16) & 1) === 1,
      ...(state !== undefined && state.length <= MAX_STATE_CHARS && { state }),
    };
  },
  inject(flat, { traceId, spanId, sampled, state }) {
    flat.push('traceparent', `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`);
    if (state) flat.push('tracestate', state);
  },
};
