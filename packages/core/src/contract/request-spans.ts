/**
 * The spans of calls that a responder makes for a request. They are children of the span of the request, and the tracing of the listener
 * exports them if the request is sampled.
 *
 * @example
 * const span = factsOf(req).spans?.begin('look up a price');
 * const response = await fetch(url, { headers: span ? [...span.carried] : [] }).finally(() => span?.end());
 */
export interface RequestSpans {
  /** Begins the span of a call. */
  begin(name: string): CallSpan;
}

/** The span of a call. Without sampling it is not exported, and its context states that to the server. */
export interface CallSpan {
  /** Headers that carry the trace to the server, as pairs with names in lower case; none if the route propagates no context. */
  readonly carried: readonly (readonly [name: string, value: string])[];
  /** Adds a tag. It must not contain a secret. */
  tag(name: string, value: string | number | boolean): void;
  /** Marks the call as failed. */
  fail(): void;
  /** Ends the span; only the first call has an effect. */
  end(): void;
}
