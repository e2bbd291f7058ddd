import type { Facts, RequestSpans } from '@edge-gateway/core';
import {
  context,
  createContextKey,
  isSpanContextValid,
  propagation,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { FieldFailure } from '../errors/field-failure.ts';

/** Attributes of a span, which must not contain secrets. */
export type Attributes = Readonly<Record<string, string | number>>;

export interface CallKind {
  readonly name: string;
  readonly attributes: Attributes;
}

/** The parent of calls in traces: a context of an SDK, or the span of the request by the tracing of its listener. */
export type CallTrace = { readonly context: Context } | { readonly spans: RequestSpans };

export interface TracedCall {
  /** Headers that carry the trace to the upstream, as pairs; none if no propagator is registered. */
  readonly carried: readonly (readonly [string, string])[];
  tag(attributes: Attributes): void;
}

const NAME = '@edge-gateway/graphql';
const tracer = trace.getTracer(NAME);
/** Context key that suppresses instrumentations of HTTP clients: our span is that of the client. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

export function callKind(name: string, attributes: Attributes = {}): CallKind {
  return { name, attributes };
}

/**
 * Returns the parent of calls: the active span, or the trace in the client's headers, if an SDK is registered; else the span of
 * the request by its listener. `undefined` without tracing, which then costs nothing.
 */
export function traceOf(facts: Facts): CallTrace | undefined {
  const active = context.active();
  const within = trace.getSpanContext(active) ? active : propagation.extract(active, facts, GETTER);
  if (isRecorded()) return { context: within };
  if (facts.spans) return { spans: facts.spans };
  return trace.getSpanContext(within) ? { context: within } : undefined;
}

/** Returns true if an SDK is registered, with this copy of the API or another. */
function isRecorded(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined;
}

const GETTER = {
  keys: ({ headers }: Facts) => (headers ?? []).filter((_, index) => index % 2 === 0),
  get: (facts: Facts, name: string) => facts.header(name),
};
const SETTER = {
  set: (carried: [string, string][], name: string, value: string) => void carried.push([name.toLowerCase(), value]),
};

/** Runs a call in a span, or without one if there is no tracing. */
export function traced<T>(
  { name, attributes }: CallKind,
  parent: CallTrace | undefined,
  make: (call: TracedCall | undefined) => Promise<T>,
): Promise<T> {
  if (!parent) return make(undefined);
  if ('spans' in parent) return inListenerSpan(parent.spans, { name, attributes }, make);
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent.context);
  return isSpanContextValid(span.spanContext()) ? inSpan(span, parent.context, make) : make(undefined);
}

async function inListenerSpan<T>(
  spans: RequestSpans,
  { name, attributes }: CallKind,
  make: (call: TracedCall) => Promise<T>,
): Promise<T> {
  const span = spans.begin(name);
  const tag = (added: Attributes): void => {
    for (const [key, value] of Object.entries(added)) span.tag(key, value);
  };
  tag(attributes);
  try {
    return await make({ carried: span.carried, tag });
  } catch (error) {
    span.tag('error.type', typeOf(error));
    span.fail();
    throw error;
  } finally {
    span.end();
  }
}

async function inSpan<T>(span: Span, parent: Context, make: (call: TracedCall) => Promise<T>): Promise<T> {
  const within = trace.setSpan(parent, span);
  const carried: [string, string][] = [];
  propagation.inject(within, carried, SETTER);
  const tag = (attributes: Attributes): void => void span.setAttributes(attributes);
  try {
    return await context.with(within.setValue(SUPPRESS_TRACING, true), () => make({ carried, tag }));
  } catch (error) {
    span.setAttribute('error.type', typeOf(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Records no message of a failure: it may come from an upstream. */
function typeOf(error: unknown): string {
  if (error instanceof FieldFailure) return error.type ?? error.code;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '_OTHER';
}
