import type { CallSpan, RequestSpans } from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';
import type { AttemptObserver } from '../upstream/attempt.ts';
import { removeContext, type ReceivedContext } from './context/propagation.ts';
import type { SentContext } from './context/trace-context.ts';
import type { EndpointMetadata } from './custom-tags.ts';
import { tagRequest, tagResponse, tagUpstream } from './request-tags.ts';
import { Span } from './span.ts';
import { randomId } from './trace-ids.ts';
import type { Tracer } from './tracer.ts';

const SWITCHING_PROTOCOLS = 101;

export interface RequestTraceParts {
  readonly tracer: Tracer;
  readonly received: ReceivedContext;
  readonly sampled: boolean;
  /** False: no trace context is sent upstream. */
  readonly propagate: boolean;
  /** Name of the operation that the caller sent; empty without. */
  readonly operation: string;
  /** Name of the operation that the caller is told; empty without. */
  readonly announced: string;
  readonly startedAt: number;
}

/** The spans of one request. Without sampling they are not recorded, but their context is passed on. */
export class RequestTrace implements RequestSpans {
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
  /** The current attempt has no outcome yet. */
  #pending = false;
  /** The attempt whose response is in progress, or that is retried because of its response. */
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

  /** Name of the operation for the response; empty without. */
  get announced(): string {
    return this.#parts.announced;
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
    const { spanId, parentId } = this.#span;
    const sent = this.#attemptId === '' ? { spanId, parentId } : { spanId: this.#attemptId, parentId: spanId };
    tracer.propagation.inject(headers, this.#contextOf(sent), received.format);
  }

  begin(name: string): CallSpan {
    const { tracer, received, propagate } = this.#parts;
    const span = this.#child(name, 'client', this.#now());
    const flat: string[] = [];
    if (propagate) tracer.propagation.inject(flat, this.#contextOf(span), received.format);
    let isOpen = true;
    return {
      carried: pairsOf(flat),
      tag: (tag, value) => span.tag(tag, value),
      fail: () => {
        if (!span.failed) span.tag('error', 'true');
        span.failed = true;
      },
      end: () => {
        if (isOpen && this.sampled) this.#end(span);
        isOpen = false;
      },
    };
  }

  /** Begins the call of an upstream: adds the context to its headers. */
  sending(headers: string[], cluster: string): void {
    this.#sent = { headers, cluster };
    this.#attemptStart = this.#now();
    if (this.#spawns) this.#beginAttempt();
    else this.inject(headers);
  }

  /** Begins another attempt: the headers get the context of its span. */
  retrying(): void {
    if (!this.#spawns) return;
    // Its duration is that until the response that is not passed on.
    if (this.#responding) this.#parts.tracer.collector.add(this.#responding);
    this.#responding = undefined;
    this.#attemptStart = this.#now();
    this.#beginAttempt();
  }

  /** Ends all spans and passes them to the collector. */
  finish(record: RequestRecord, name: string | undefined): void {
    if (!this.sampled) return;
    const { tracer, operation } = this.#parts;
    this.endStage();
    this.#endAttempt(record.result);
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

  #contextOf({ spanId, parentId }: Pick<Span, 'spanId' | 'parentId'>): SentContext {
    const { traceId, state, origin } = this.#span;
    return { spanId, parentId, traceId, sampled: this.sampled, state, origin };
  }

  #child(name: string, kind: 'client' | 'internal', startedAt: number, spanId = randomId(8)): Span {
    const { traceId, state, origin, spanId: parentId } = this.#span;
    return new Span({ name, kind, traceId, spanId, parentId, startedAt, state, origin });
  }

  #end(span: Span): void {
    span.durationMs = this.#now() - span.startedAt;
    this.#parts.tracer.collector.add(span);
  }

  #beginAttempt(): void {
    this.#pending = true;
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
    this.#pending = false;
    this.#attemptStart = this.#now() - elapsedMs;
    const span = this.#attempt(host.name);
    if (attempt > 1) span.tag('retry.count', String(attempt - 1));
    tagResponse(span, { status, flags: reason?.flags ?? '' });
    if (reason) return this.#end(span);
    span.durationMs = elapsedMs;
    this.#responding = span;
  };

  #endAttempt({ status, flags, upstreamHost }: RequestRecord['result']): void {
    if (this.#responding) return this.#end(this.#responding);
    // No outcome: the client left before, the connection was upgraded, or there was no endpoint to try.
    if (!this.#pending || (flags !== 'DC' && upstreamHost === '')) return;
    const span = this.#attempt(upstreamHost);
    tagResponse(span, { status: flags === '' || status === SWITCHING_PROTOCOLS ? status : 0, flags });
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

function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), flat[i + 1]!] as [string, string]] : []));
}
