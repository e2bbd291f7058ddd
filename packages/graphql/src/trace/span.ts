import type { Facts } from '@edge-gateway/core';
import {
  context,
  createContextKey,
  isSpanContextValid,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import { FieldFailure } from '../field-failure.ts';

/** What the spans of one kind of call share. */
export interface CallKind {
  readonly name: string;
  readonly options: SpanOptions;
}

/** A call that is traced. */
export interface TracedCall {
  /** For attributes. */
  readonly span: Span;
  /** Headers that carry the trace to the upstream, each a pair; none where no propagator is registered. */
  readonly carried: readonly (readonly [string, string])[];
}

const tracer = trace.getTracer('@edge-gateway/graphql');
/** The key by which instrumentations of HTTP clients are told to keep quiet: our span is that of the client. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Makes the kind of a call to an upstream. */
export function callKind(name: string, attributes: Attributes): CallKind {
  return { name, options: { kind: SpanKind.CLIENT, attributes } };
}

/** What the calls of a request are part of: the active span, else the trace that the client's headers continue. */
export function traceOf(facts: Facts): Context {
  const active = context.active();
  return trace.getSpanContext(active) ? active : propagation.extract(active, facts, GETTER);
}

const GETTER = {
  keys: ({ headers }: Facts) => (headers ?? []).filter((_, index) => index % 2 === 0),
  get: (facts: Facts, name: string) => facts.header(name),
};
const SETTER = {
  set: (carried: [string, string][], name: string, value: string) => void carried.push([name.toLowerCase(), value]),
};

/** Makes a call in a span. Where nobody traces, it is made without one. */
export function traced<T>(
  { name, options }: CallKind,
  parent: Context,
  make: (call: TracedCall | undefined) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, options, parent);
  return isSpanContextValid(span.spanContext()) ? inSpan(span, parent, make) : make(undefined);
}

async function inSpan<T>(span: Span, parent: Context, make: (call: TracedCall) => Promise<T>): Promise<T> {
  const within = trace.setSpan(parent, span);
  const carried: [string, string][] = [];
  propagation.inject(within, carried, SETTER);
  try {
    return await context.with(within.setValue(SUPPRESS_TRACING, true), () => make({ span, carried }));
  } catch (error) {
    span.setAttribute('error.type', typeOf(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Never the words of a failure: they may be those of an upstream. */
function typeOf(error: unknown): string {
  if (error instanceof FieldFailure) return error.type ?? error.code;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '_OTHER';
}
