import type { RequestRecord } from '../format/record.ts';
import { hostOf } from '../http1/authority.ts';
import type { AttemptObserver } from '../upstream/attempt.ts';
import { removeContext, type ReceivedContext } from './context/propagation.ts';
import type { EndpointMetadata } from './custom-tags.ts';
import { tagRequest, tagResponse, tagUpstream } from './request-tags.ts';
import { Span } from './span.ts';
import { randomId } from './trace-ids.ts';
import type { Tracer } from './tracer.ts';

export interface RequestTraceParts {
  readonly tracer: Tracer;
  readonly received: ReceivedContext;
  readonly sampled: boolean;
  /** False: no trace context is sent upstream. */
  readonly propagate: boolean;
  /** Name of the operation that the caller sent; empty without. */
  readonly operation: string;
  readonly startedAt: number;
}

/** The spans of one request. Without sampling they are not recorded, but their context is passed on. */
export class RequestTrace {
  readonly sampled: boolean;
  readonly #parts: RequestTraceParts;
  readonly #span: Span;
  readonly #start = performance.now();
  #stage: Span | undefined;
  /** Headers and cluster of the request that was sent upstream. */
  #sent: { readonly headers: string[]; readonly cluster: string } | undefined;
  /** Span id that the upstream has received; empty if it has that of the request. */
  #attemptId = '';
  #attemptStart = 0;
  /** The attempt whose response is in progress. */
  #responding: Span | undefined;
  readonly #spawns: boolean;
  #endpoint: EndpointMetadata;
  /** Set if each attempt has a span, or a tag needs its endpoint. */
  readonly onAttempt: AttemptObserver | undefined;

  constructor(parts: RequestTraceParts) {
    this.#parts = parts;
    this.sampled = parts.sampled;
    this.#span = this.#serverSpan();
    const { spawnsUpstreamSpans, readsEndpoint } = parts.tracer;
    this.#spawns = parts.sampled && spawnsUpstreamSpans;
    this.onAttempt = this.#spawns || (parts.sampled && readsEndpoint) ? this.#observe : undefined;
  }

  get traceId(): string {
    return this.#span.traceId;
  }

  get spanId(): string {
    return this.#span.spanId;
  }

  /** Begins the span of a stage, if the listener wants them. */
  beginStage(name: string): void {
    if (this.sampled && this.#parts.tracer.verbose) this.#stage = this.#child(name, 'internal', this.#now());
  }

  endStage(): void {
    if (this.#stage) this.#end(this.#stage);
    this.#stage = undefined;
  }

  /** Replaces the trace context in the headers for an upstream, or for a handler of another package. */
  inject(headers: string[]): void {
    const { tracer, received, propagate } = this.#parts;
    if (!propagate) return removeContext(headers);
    const { traceId, spanId, parentId, state, origin } = this.#span;
    const sent = this.#attemptId === '' ? { spanId, parentId } : { spanId: this.#attemptId, parentId: spanId };
    tracer.propagation.inject(headers, { ...sent, traceId, sampled: this.sampled, state, origin }, received.format);
  }

  /** Begins the call of an upstream: adds the context to its headers. */
  sending(headers: string[], cluster: string): void {
    this.#sent = { headers, cluster };
    this.#attemptStart = this.#now();
    if (this.#spawns) this.#nextAttempt();
    else this.inject(headers);
  }

  /** Ends all spans and passes them to the collector. */
  finish(record: RequestRecord, name: string | undefined): void {
    if (!this.sampled) return;
    const { tracer, operation } = this.#parts;
    this.endStage();
    this.#endAttempt(record.result.flags);
    const span = this.#span;
    span.name = name || operation || tracer.defaultName;
    tagRequest(span, record);
    for (const { name: tag, value: read } of tracer.tags) {
      const value = read(record, this.#endpoint);
      if (value !== undefined) span.tag(tag, value);
    }
    if (tracer.verbose) this.#addEvents(record);
    this.#end(span);
  }

  #serverSpan(): Span {
    const { tracer, received, startedAt } = this.#parts;
    const { context, format } = received;
    const shared = tracer.sharesSpans && context !== undefined && (format?.name ?? '').startsWith('b3');
    return new Span({
      name: tracer.defaultName,
      kind: 'server',
      traceId: context?.traceId ?? (tracer.longTraceIds ? randomId(16) : randomId(8).padStart(32, '0')),
      spanId: shared ? context!.spanId : randomId(8),
      parentId: shared ? context!.parentId : context?.spanId,
      hasRemoteParent: context !== undefined,
      shared,
      startedAt,
      state: context?.state,
      origin: context?.origin,
    });
  }

  #now(): number {
    return this.#span.startedAt + performance.now() - this.#start;
  }

  #child(name: string, kind: 'client' | 'internal', startedAt: number, spanId = randomId(8)): Span {
    const { traceId, state, origin, spanId: parentId } = this.#span;
    return new Span({ name, kind, traceId, spanId, parentId, startedAt, state, origin });
  }

  #end(span: Span): void {
    span.durationMs = this.#now() - span.startedAt;
    this.#parts.tracer.collector.add(span);
  }

  #nextAttempt(): void {
    this.#attemptId = randomId(8);
    this.inject(this.#sent!.headers);
  }

  #attempt(host: string): Span {
    const { cluster } = this.#sent!;
    const span = this.#child(`router ${cluster} egress`, 'client', this.#attemptStart, this.#attemptId);
    span.tag('component', 'proxy');
    tagUpstream(span, cluster, host);
    return span;
  }

  readonly #observe: AttemptObserver = ({ host, attempt, status, reason, elapsedMs }) => {
    this.#endpoint = host.metadata;
    if (!this.#spawns) return;
    if (this.#responding) {
      // The body of its response broke off; its end follows.
      this.#responding.failed = true;
      return;
    }
    this.#attemptStart = this.#now() - elapsedMs;
    const span = this.#attempt(hostOf(host));
    if (attempt > 1) span.tag('retry.count', String(attempt - 1));
    tagResponse(span, { status, flags: reason?.flags ?? '' });
    if (!reason) {
      this.#responding = span;
      return;
    }
    this.#end(span);
    this.#attemptStart = this.#now();
    this.#nextAttempt();
  };

  #endAttempt(flags: string): void {
    if (this.#responding) return this.#end(this.#responding);
    if (!this.#spawns || !this.#sent || flags !== 'DC') return;
    // The client left before an outcome.
    const span = this.#attempt('');
    tagResponse(span, { status: 0, flags });
    this.#end(span);
  }

  #addEvents({ result }: RequestRecord): void {
    const { events, startedAt } = this.#span;
    if (result.upstreamMs >= 0) {
      const sentAt = Math.max(this.#attemptStart, startedAt);
      events.push({ name: 'first_upstream_tx_byte_sent', at: sentAt });
      events.push({ name: 'first_upstream_rx_byte_received', at: sentAt + result.upstreamMs });
    }
    events.push({ name: 'last_downstream_tx_byte_sent', at: this.#now() });
  }
}
