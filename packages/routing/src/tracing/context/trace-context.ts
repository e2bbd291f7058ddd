/** The place of a request in a trace. */
export interface TraceContext {
  /** 32 hexadecimal digits in lower case. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span of the caller. */
  readonly spanId: string;
  /** Decision of the caller; `undefined` if it leaves it to the receiver. */
  readonly sampled: boolean | undefined;
  /** Parent of the caller's span, if the format carries it. */
  readonly parentId?: string;
  /** `tracestate` as received. */
  readonly state?: string;
  /** Origin of a Datadog trace as received, e.g. `synthetics`. */
  readonly origin?: string;
}

/** A way to write a trace context into headers. */
export interface ContextFormat {
  readonly name: 'w3c' | 'b3' | 'b3single' | 'datadog';
  /** Headers that it uses, in lower case. */
  readonly headers: readonly string[];
  /** Returns the context of a request; `undefined` for a missing or malformed one. */
  extract(header: (name: string) => string | undefined): TraceContext | undefined;
  /** Adds the headers of a span to a flat list. */
  inject(flat: string[], span: SentContext): void;
}

/** A span that is sent upstream. */
export interface SentContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly sampled: boolean;
  readonly state: string | undefined;
  readonly origin: string | undefined;
}

const SPAN_ID = /^[0-9a-f]{16}$/;
const TRACE_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/;
const ZEROS = /^0+$/;

export const isSpanId = (text: string): boolean => SPAN_ID.test(text) && !ZEROS.test(text);

/** Returns a trace id of 64 or 128 bits with 128; `undefined` for an invalid one. */
export function wholeTraceId(text: string): string | undefined {
  return TRACE_ID.test(text) && !ZEROS.test(text) ? text.padStart(32, '0') : undefined;
}
