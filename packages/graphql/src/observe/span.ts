import type { Facts } from '@edge-gateway/core';
import {
  context,
  createContextKey,
  isSpanContextValid,
  propagation,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import { FieldFailure } from '../errors/field-failure.ts';

export interface CallKind {
  readonly name: string;
  readonly options: SpanOptions;
}

export interface TracedCall {
  readonly span: Span;
  /** Headers that carry the trace to the upstream, as pairs; none if no propagator is registered. */
  readonly carried: readonly (readonly [string, string])[];
}

const NAME = '@edge-gateway/graphql';
const tracer = trace.getTracer(NAME);
/** Context key that suppresses instrumentations of HTTP clients: our span is that of the client. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

export function callKind(name: string, attributes: Attributes = {}): CallKind {
  return { name, options: { kind: SpanKind.CLIENT, attributes } };
}

/** Returns the active span, or the trace in the client's headers; `undefined` without tracing, which then costs nothing. */
export function traceOf(facts: Facts): Context | undefined {
  const active = context.active();
  const within = trace.getSpanContext(active) ? active : propagation.extract(active, facts, GETTER);
  return trace.getSpanContext(within) || isRecorded() ? within : undefined;
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
  { name, options }: CallKind,
  parent: Context | undefined,
  make: (call: TracedCall | undefined) => Promise<T>,
): Promise<T> {
  if (!parent) return make(undefined);
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

/** Records no message of a failure: it may come from an upstream. */
function typeOf(error: unknown): string {
  if (error instanceof FieldFailure) return error.type ?? error.code;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '_OTHER';
}
