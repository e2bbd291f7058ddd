import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  renderForBrowser,
  GatewayError,
  releaseSocket,
  signsOf,
  type Facts,
  type Handler,
  type Next,
  type Pages,
  type RetryPolicy,
} from '@edge-gateway/core';
import { NO_METADATA, RequestResult, VIA_UPSTREAM, type RequestRecord } from '../format/record.ts';
import type { CompiledListener } from './listener-table.ts';
import type { CompiledDestination, ForwardAction, ForwardPolicy } from '../route/compile/route.ts';
import type { CompiledHost } from '../route/compile/virtual-host.ts';
import { DownstreamHead } from '../route/downstream-head.ts';
import { ConnectionRecord } from '../format/connection-record.ts';
import { proxiedOf } from '../format/proxied.ts';
import { findHeader, setHeader } from '../http1/flat-headers.ts';
import { writeProperCase } from '../http1/header-case.ts';
import { FILTER_TRAILERS, type TrailerRules } from '../http1/trailers.ts';
import { UpgradeStream } from '../listen/http2/upgrade-stream.ts';
import type { ForwardHead, ForwardOutcome } from '../forward/forward.ts';
import { maskRecord } from '../dlp/masked-record.ts';
import type { StreamLimits } from '../route/options/stream-limits.ts';
import type { ForwardFailure } from '../upstream/failure.ts';
import { applyHeaderOps, decidedNames } from '../route/options/header-manipulation.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { replacementOf } from './replaced-response.ts';
import type { RecordedRequest, RecordingSource } from '../tracing/recordings.ts';
import type { RequestTrace } from '../tracing/request-trace.ts';
import { OPERATION, startTrace } from '../tracing/start-trace.ts';
import type { AttemptObserver } from '../upstream/attempt.ts';
import type { RouteDecision } from '../route/route-request.ts';
import {
  setContentType,
  errorReply,
  headersOf,
  replyTo,
  writeHead,
  writeReply,
  type Exchange,
  type LocalReply,
  failureReply,
} from './reply.ts';
import type { RoutingErrorCode } from '../error-codes.ts';
import { grpcReply } from './grpc-reply.ts';
import { RequestFilters } from './filter-response.ts';
import { sessionHeader } from './host-choice.ts';
import { addAttemptCount, addServiceTime, applyRecorded, finishResponse } from './response-headers.ts';
import { prepareRetry, RequestRoute, type OutgoingRequest } from './outgoing-request.ts';
import { countResponse, type HttpStats } from './http-stats.ts';
import type { RouteStats } from './route-stats.ts';
import { recordRequestEnd } from './request-end.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';
import type { OpenWebSockets } from '../websocket/open-websockets.ts';

/** The part of the router that requests use. */
export interface RequestEnvironment {
  readonly stats: HttpStats;
  readonly routeStats: Pick<RouteStats, 'of'>;
  readonly now: () => number;
  readonly pages: Pages;
  /** False while load balancers in front should send no new requests. */
  readonly isHealthy: () => boolean;
  /** Keeps the current upstreams until the returned function is called. */
  readonly pinUpstreams: () => () => void;
  /** Those that are closed when their listener drains. */
  readonly webSockets: OpenWebSockets;
  /** Records single requests; `undefined` if nobody can ask for it. */
  readonly recordings: RecordingSource | undefined;
  /** Called if no virtual host matches. */
  readonly onUnknownHost: (listener: CompiledListener, authority: string) => void;
  /** Called when the last request of a replaced virtual host has ended. */
  readonly onHostIdle: (host: CompiledHost) => void;
}

/** How requests leave the router. */
export interface RequestExits {
  /** Sends a request upstream; `plan` and `destination` are chosen. */
  send(request: RoutedRequest, destination: CompiledDestination, action: ForwardAction): void;
  readonly upgrade?: UpgradeSocket;
  /** Set if requests that no route matches are passed on. */
  readonly passOn: Next | undefined;
  /** True in a user's own server, where earlier handlers may have decided based on the original path. */
  readonly embedded: boolean;
}

export interface UpgradeSocket {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The gRPC status of a call that timed out. */
const DEADLINE_EXCEEDED = 4;
/** A request whose head could not be read. */
const NO_HEAD = new DownstreamHead('', '');

/**
 * One request in the router: its input (`connection`, `head`), the decision (`route`), the record (`result`),
 * and how it ends. `serve-request.ts` runs its steps.
 */
export class RoutedRequest implements OutgoingRequest, ForwardHead {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly listener: CompiledListener;
  readonly environment: RequestEnvironment;
  readonly startedAt: number;
  readonly connection: ConnectionRecord;
  head = NO_HEAD;
  readonly route = new RequestRoute();
  readonly result = new RequestResult();
  facts: Facts | undefined;
  endpoint: Host | undefined;
  pickContext: PickContext | undefined;
  body: Buffer | undefined;
  /** Set once it is sent upstream. */
  policy: ForwardPolicy | undefined;
  streamLimits: StreamLimits | undefined;
  trace: RequestTrace | undefined;
  /** Set if its client asked for a recording. */
  recording: RecordedRequest | undefined;
  met: Set<Handler> | undefined;
  /** Set if the route filters responses. */
  filters: RequestFilters | undefined;
  /** True if it is translated from gRPC-Web: its trailers are in the body. */
  translatesGrpcWeb = false;
  /** True once it was passed to the forwarder. */
  sent = false;
  finished = false;
  readonly #start = performance.now();
  #counted = false;
  #release: (() => void) | undefined;

  constructor({ req, res }: Exchange, listener: CompiledListener, environment: RequestEnvironment) {
    this.req = req;
    this.res = res;
    this.listener = listener;
    this.environment = environment;
    this.startedAt = environment.now();
    this.connection = new ConnectionRecord(req);
    if (listener.settings.headerCase === 'proper') writeProperCase(res);
  }

  get method(): string {
    return this.head.method;
  }

  get path(): string {
    return this.head.path;
  }

  get headers(): readonly string[] {
    return this.head.headers;
  }

  get timeoutMs(): number {
    return this.policy?.timeoutMs ?? 0;
  }

  get retries(): RetryPolicy | undefined {
    return this.policy?.retries;
  }

  get replayBytes(): number | undefined {
    return this.listener.source.options.perConnectionBufferLimitBytes;
  }

  get dynamicStats(): boolean {
    return this.listener.settings.dynamicStats;
  }

  get settings(): ManagerSettings {
    return this.listener.settings;
  }

  get writtenNames(): readonly string[] | undefined {
    // Over HTTP/2 all names are in lower case.
    const isPreserved = this.settings.headerCase === 'preserve' && this.req.httpVersionMajor < 2;
    return isPreserved ? this.req.rawHeaders : undefined;
  }

  get passesInterim(): boolean {
    return this.listener.settings.passesInterim;
  }

  get trailers(): TrailerRules | undefined {
    if (this.facts?.readsTrailers) return FILTER_TRAILERS;
    const { trailers, http2Trailers } = this.listener.settings;
    return trailers ?? (this.req.httpVersionMajor > 1 ? http2Trailers : undefined);
  }

  get guardedNames(): readonly ReadonlySet<string>[] {
    const ops = [this.settings.earlyHeaders, this.route.plan.headers.request];
    return [...(this.facts?.guardedNames ?? []), ...ops.map(decidedNames)];
  }

  get metadata(): RequestRecord['metadata'] {
    return this.facts?.metadata ?? proxiedOf(this.req.socket)?.metadata ?? NO_METADATA;
  }

  adopt({ head, host, entry }: RouteDecision): void {
    this.head = head;
    this.route.host = host?.value;
    this.route.entry = entry;
  }

  /** Counts the request in this router. */
  begin(): void {
    this.#counted = true;
    this.environment.stats.total.value++;
    this.environment.stats.active.value++;
    if (this.route.host) this.route.host.inFlight++;
    const { tracer, logsRequestEnd } = this.listener;
    if (logsRequestEnd) recordRequestEnd(this.req, this.result, () => performance.now() - this.#start);
    if (tracer) this.trace = startTrace(tracer, this, this.route.entry?.route.tracing);
    const { recordings } = this.environment;
    if (recordings?.isArmed) this.recording = recordings.begin(this.head.headers);
  }

  /** Reports each attempt to send it upstream; `undefined` if nobody listens. */
  get onAttempt(): AttemptObserver | undefined {
    const traced = this.trace?.onAttempt;
    const { recording } = this;
    if (!recording) return traced;
    return (outcome) => {
      recording.attempted(outcome);
      traced?.(outcome);
    };
  }

  /** Switches to another virtual host, or to none. */
  enterHost(host: CompiledHost | undefined): void {
    const left = this.route.host;
    if (left === host) return;
    this.route.host = host;
    if (host) host.inFlight++;
    if (left) this.#leave(left);
  }

  /** Keeps its upstream open while concerns run. */
  pinUpstreams(): void {
    this.#release = this.environment.pinUpstreams();
  }

  /** Releases the upstream, which counts the request now, or will not receive it. */
  release(): void {
    this.#release?.();
  }

  sending(): void {
    this.sent = true;
    this.result.attempts = 1;
    this.result.sentMs = performance.now() - this.#start;
    this.trace?.sending(this.head.headers, this.route.upstream);
  }

  onRetry(attempt: number, host: Host, elapsedMs: number): void {
    this.result.attempts = attempt;
    prepareRetry(this, this.policy!, { attempt, host, elapsedMs });
    this.trace?.retrying();
  }

  onResponseHead(status: number, headers: string[], host: Host): string[] {
    this.result.status = status;
    this.result.responseHeaders = headers;
    this.result.upstreamHost = host.name;
    if (this.settings.session) headers.push(...(sessionHeader(this, this.pickContext, host) ?? []));
    this.responded();
    addServiceTime(headers, this.settings, this.result.upstreamMs);
    if (this.policy?.countForClient) addAttemptCount(headers, this.result.attempts);
    this.#changeResponse(headers);
    return headers;
  }

  /** Returns the headers of a response that opens a tunnel. */
  onTunnelHead(status: number, received: string[], host: Host): string[] | Promise<string[]> {
    const headers = this.onResponseHead(status, received, host);
    return this.filters?.onTunnel(status, headers) ?? headers;
  }

  /** The head of the response was received: on the clock of `sentMs`, so that the times of one request add up. */
  responded(): void {
    this.result.upstreamMs = performance.now() - this.#start - this.result.sentMs;
  }

  onTrailers(trailers: readonly string[]): void {
    this.result.responseTrailers = trailers;
  }

  onDone(outcome: ForwardOutcome): void {
    // The response of a filter that failed ended the exchange.
    if (!this.filters?.response.isReplaced) {
      this.result.flags = outcome.flags;
      this.result.details = outcome.details ?? (isComplete(outcome) ? VIA_UPSTREAM : '');
    }
    this.result.transportFailure = outcome.cause ?? '';
    this.result.attempts = outcome.attempts;
    this.result.upstreamHost = outcome.endpoint ?? '';
    this.result.upstreamLocal = outcome.local;
    this.result.bytesReceived = outcome.bytesReceived;
    this.result.bytesSent = outcome.bytesSent;
    const { failure } = outcome;
    if (!failure) this.finish();
    else if (failure.reply || (failure.status < 500 && failure.status !== 408))
      this.reply(replyTo(new GatewayError(failure.message, failure), this.head.requestId));
    else this.reply(this.#failureReply(failure));
  }

  /** Rejects the request with a code of the table. */
  refuse(code: RoutingErrorCode): void {
    this.result.details ||= code;
    this.reply(errorReply(code, this.head.requestId));
  }

  /** Responds without an upstream; browsers receive a page for an error. */
  reply(written: LocalReply): void {
    const { res, req } = this;
    if (this.finished) return;
    if (res.headersSent || res.destroyed) {
      res.destroy();
      this.result.flags ||= 'DC';
      return this.finish();
    }
    const { grpc } = this.head;
    const isGrpc = grpc === 'grpc' || (grpc !== undefined && this.translatesGrpcWeb);
    const reply = isGrpc ? grpcReply(written, 'application/grpc') : this.forClient(written);
    const headers = headersOf(reply, req.httpVersionMajor);
    if (this.filters) this.filters.isLocalReply = true;
    this.result.status = reply.status;
    this.result.responseHeaders = headers;
    this.#changeResponse(headers);
    setContentType(headers, reply);
    this.result.localBody = reply.body;
    this.result.bytesSent = writeReply({ req, res }, reply.status, headers, reply.body);
    this.finish();
  }

  /** Returns an error in the form for the client; other responses unchanged. */
  forClient(written: LocalReply): LocalReply {
    if (!written.error) return written;
    const { req, facts, environment, listener } = this;
    const { jsonErrors } = listener.written;
    const { requestId } = this.head;
    return renderForBrowser(written, { request: signsOf(req), requestId, pages: environment.pages, jsonErrors, facts });
  }

  /** Passes the response through the filters of these handlers. */
  filterResponse(handlers: readonly Handler[]): void {
    this.filters ??= new RequestFilters(this);
    this.filters.handlers = handlers;
  }

  /** Writes the head of a response whose body the caller writes. */
  writeHead(status: number, headers: readonly string[]): void {
    const { req, res } = this;
    const flat = [...headers];
    this.result.status = status;
    this.result.responseHeaders = flat;
    this.result.bytesSent = Number(findHeader(flat, 'content-length') ?? 0);
    this.#changeResponse(flat);
    writeHead({ req, res }, status, flat);
  }

  /**
   * Detaches the socket of an upgrade whose handshake another handler responds to. Headers of the route and of concerns are added to that response.
   * Returns the function that assigns the socket again.
   */
  releaseSocket(socket: Socket): () => void {
    const added: string[] = [];
    this.#changeResponse(added);
    this.filters?.response.detach();
    for (let i = 0; i < added.length; i += 2) this.res.appendHeader(added[i]!, added[i + 1]!);
    return this.detachSocket(socket);
  }

  /** Detaches the socket of a tunnel. Returns the function that assigns it again. */
  detachSocket(socket: Socket): () => void {
    // A stream of HTTP/2 and its response are independent.
    return socket instanceof UpgradeStream ? () => {} : releaseSocket(this.res, socket);
  }

  /** 503: the cluster of a route does not exist, or no share of it is more than 0. */
  noCluster(): void {
    this.environment.stats.noCluster.value++;
    this.result.flags = 'NC';
    this.result.details = 'cluster_not_found';
    this.reply(failureReply({ code: 'ERR_ROUTING_NO_CLUSTER', status: 503 }, this.head.requestId));
  }

  /** Ends the request with an error: passes it on in a user's own server, responds otherwise. */
  fail({ passOn }: Pick<RequestExits, 'passOn'>, error: unknown): void {
    const { result } = this;
    const reply = error instanceof GatewayError ? error.reply : undefined;
    result.details ||= reply?.details ?? (error instanceof Error ? error.message : String(error));
    result.flags ||= reply?.flags ?? '';
    // A response below status 400 is a step of a protocol: an error handler cannot handle it.
    const isStep = error instanceof GatewayError && error.status < 400;
    if (!passOn || isStep) return this.reply(replyTo(error, this.head.requestId));
    result.status = 500;
    this.finish();
    passOn(error);
  }

  /** Ends a request whose response was written elsewhere, or whose client disconnected. */
  closed(): void {
    if (this.finished || this.sent) return;
    this.result.status = this.res.headersSent ? this.res.statusCode : 0;
    if (!this.res.writableFinished) this.result.flags ||= 'DC';
    this.finish();
  }

  /** Counts and logs the finished request, once. */
  finish(): void {
    if (this.finished) return;
    if (this.filters?.response.isPending) {
      this.filters.isAwaited = true;
      return;
    }
    this.finished = true;
    this.release();
    this.result.durationMs = performance.now() - this.#start;
    const added = this.facts?.responseFlags;
    if (added) this.result.flags = this.result.flags === '' ? added : `${added},${this.result.flags}`;
    if (this.#counted) this.#count();
    if (this.result.flags === 'DC') Object.assign(this.result, replacementOf(this.res));
    const mask = this.route.entry ? this.facts?.logMask : this.listener.unroutedMask?.(this.head);
    const record = mask ? maskRecord(this, mask) : this;
    this.trace?.finish(record, this.facts?.spanName);
    this.recording?.finish(record, this.listener.source.name);
    for (const log of this.listener.logs) log.write(record);
  }

  #failureReply({ status, code, message }: ForwardFailure): LocalReply {
    const headers: string[] = [];
    const overloaded = code === 'ERR_ROUTING_UPSTREAM_OVERFLOW' && !this.settings.suppressEnvoyHeaders;
    if (overloaded) headers.push('x-envoy-overloaded', 'true');
    if (this.policy?.countForClient) addAttemptCount(headers, this.result.attempts);
    const reply = failureReply({ code, status, message, headers }, this.head.requestId);
    return code === 'ERR_ROUTING_STREAM_DURATION' ? { ...reply, grpcStatus: DEADLINE_EXCEEDED } : reply;
  }

  #changeResponse(headers: string[]): void {
    const operation = this.trace?.announced;
    if (operation) setHeader(headers, OPERATION, operation);
    applyHeaderOps(headers, this.route.plan.headers.response, this);
    if (this.facts && this.facts.responseChanges.length > 0) applyRecorded(headers, this.facts.responseChanges);
    if (!this.filters) finishResponse(headers, this.settings);
  }

  #count(): void {
    const { stats, routeStats } = this.environment;
    const { host, entry } = this.route;
    stats.active.value--;
    countResponse(stats, this.result.status);
    countResponse(this.listener.responses, this.result.status);
    const ofRoute = host && entry && this.dynamicStats && routeStats.of(host.source, entry.route.source);
    if (ofRoute) {
      countResponse(ofRoute, this.result.status);
      ofRoute.timeUs.value += Math.round(this.result.durationMs * 1000);
    }
    stats.time.observe(this.result.durationMs);
    if (this.result.flags === 'DC') stats.resetBeforeEnd.value++;
    if (this.sent && this.dynamicStats) host?.virtualClusters?.count(this.head, this.result);
    if (host) this.#leave(host);
  }

  #leave(host: CompiledHost): void {
    if (--host.inFlight === 0 && host.retired) this.environment.onHostIdle(host);
  }
}

/** Returns true for a response of the upstream, also for one that could not be retried. */
function isComplete({ failure, flags }: ForwardOutcome): boolean {
  return !failure && (flags === '' || flags === 'URX' || flags === 'UO');
}
