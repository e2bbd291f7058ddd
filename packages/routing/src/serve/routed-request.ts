import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  forPeople,
  GatewayError,
  releaseSocket,
  signsOf,
  type ClientConnection,
  type Endpoint,
  type Facts,
  type Handler,
  type Pages,
} from '@edge-gateway/core';
import type { CompiledListener } from '../route/compile/listener.ts';
import { EMPTY_PLAN, type CompiledDestination, type Plan } from '../route/compile/route.ts';
import type { CompiledHost, MatchedRoute } from '../route/compile/virtual-host.ts';
import { ConnectionRecord } from './connection-record.ts';
import { findHeader } from '../http1/flat-headers.ts';
import type { ForwardHead, ForwardOutcome } from '../forward/forward.ts';
import { VIA_UPSTREAM, type RequestRecord } from '../format/record.ts';
import type { RouteEntry } from '../route/match/route-index.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import {
  describeBody,
  errorReply,
  headersOf,
  replyTo,
  writeHead,
  writeReply,
  type LocalReply,
  failureReply,
} from './reply.ts';
import type { RoutingErrorCode } from '../error-codes.ts';
import { addServiceTime, applyRecorded, finishResponse } from './response-headers.ts';
import { countAnswer, type HttpStats } from './http-stats.ts';

/** What requests need of their router. */
export interface RequestEnvironment {
  readonly stats: HttpStats;
  readonly now: () => number;
  readonly pages: Pages;
  /** Keeps the upstreams of now until the function it gives is called. */
  readonly hold: () => () => void;
  /** Called when the last request of a replaced virtual host is over. */
  readonly onHostIdle: (host: CompiledHost) => void;
}

const NO_METADATA: RequestRecord['metadata'] = new Map();

/**
 * One request on its way through the router: what is known of it, for matching, formats and the forwarder alike, and
 * how it ends. `serve.ts` moves it along.
 */
export class RoutedRequest extends ConnectionRecord implements RequestRecord, ForwardHead, ClientConnection {
  readonly res: ServerResponse;
  readonly listener: CompiledListener;
  readonly environment: RequestEnvironment;
  readonly startedAt: number;
  readonly #start = performance.now();
  #sentAt = 0;
  #counted = false;
  #release: (() => void) | undefined;
  method: string;
  /** Canonical; from `send` on the path that the upstream gets. */
  path: string;
  pathname = '';
  originalPath: string;
  authority = '';
  /** From `send` on those that the upstream gets. */
  headers: string[] = [];
  requestId = '';
  clientAddress = '';
  scheme: 'http' | 'https' = 'http';
  host: CompiledHost | undefined;
  entry: RouteEntry<MatchedRoute> | undefined;
  plan: Plan = EMPTY_PLAN;
  destination: CompiledDestination | undefined;
  endpoint: Endpoint | undefined;
  /** Set when a body parser in front has read the body. */
  body: Buffer | undefined;
  facts: Facts | undefined;
  /** Handlers of routes that the request has left. */
  met: Set<Handler> | undefined;
  timeoutMs = 0;
  status = 0;
  responseHeaders: readonly string[] = [];
  details = '';
  flags = '';
  upstreamHost = '';
  bytesReceived = 0;
  bytesSent = 0;
  upstreamMs = -1;
  durationMs = 0;
  /** True from the moment the forwarder has it. */
  sent = false;
  finished = false;

  constructor(
    exchange: { readonly req: IncomingMessage; readonly res: ServerResponse },
    listener: CompiledListener,
    environment: RequestEnvironment,
  ) {
    super(exchange.req);
    this.res = exchange.res;
    this.listener = listener;
    this.environment = environment;
    this.startedAt = environment.now();
    this.method = exchange.req.method ?? 'GET';
    this.path = this.originalPath = exchange.req.url ?? '/';
  }

  get clientPort(): number {
    return this.clientAddress === this.directAddress ? this.directPort : 0;
  }

  get routeName(): string {
    return this.entry?.route.name ?? '';
  }

  get virtualHost(): string {
    return this.host?.source.name ?? '';
  }

  get upstream(): string {
    return this.destination?.upstream ?? '';
  }

  get metadata(): RequestRecord['metadata'] {
    return this.facts?.metadata ?? NO_METADATA;
  }

  /** Counts the request as one of this router's. */
  begin(): void {
    this.#counted = true;
    this.environment.stats.total.value++;
    this.environment.stats.active.value++;
    if (this.host) this.host.inFlight++;
  }

  /** Moves on to another virtual host, or to none. */
  enterHost(host: CompiledHost | undefined): void {
    const left = this.host;
    if (left === host) return;
    this.host = host;
    if (host) host.inFlight++;
    if (left) this.#leave(left);
  }

  /** Keeps its upstream in being while concerns are asked. */
  hold(): void {
    this.#release = this.environment.hold();
  }

  /** Notes that the upstream knows of the request, or that it goes nowhere. */
  release(): void {
    this.#release?.();
  }

  /** Notes that the request goes upstream now. */
  sending(): void {
    this.sent = true;
    this.#sentAt = performance.now();
  }

  onResponseHead(status: number, headers: string[]): string[] {
    this.status = status;
    this.responseHeaders = headers;
    addServiceTime(headers, this.listener.settings, performance.now() - this.#sentAt);
    this.#changeResponse(headers);
    return headers;
  }

  onDone(outcome: ForwardOutcome): void {
    this.flags = outcome.flags;
    this.details = outcome.details ?? (outcome.failure || outcome.flags !== '' ? '' : VIA_UPSTREAM);
    this.upstreamHost = outcome.endpoint ?? '';
    this.upstreamMs = outcome.upstreamMs;
    this.bytesReceived = outcome.bytesReceived;
    this.bytesSent = outcome.bytesSent;
    const { failure } = outcome;
    if (!failure) this.finish();
    else if (failure.status < 500) this.reply(replyTo(new GatewayError(failure.message, failure), this.requestId));
    else this.reply(failureReply(failure.status, failure.message));
  }

  /** Refuses the request with a code of the table. */
  refuse(code: RoutingErrorCode): void {
    this.details ||= code;
    this.reply(errorReply(code, this.requestId));
  }

  /** Responds without an upstream; browsers receive a page for an error. */
  reply(written: LocalReply): void {
    const { res, req, requestId, facts } = this;
    if (this.finished) return;
    if (res.headersSent || res.destroyed) {
      res.destroy();
      this.flags ||= 'DC';
      return this.finish();
    }
    const { pages } = this.environment;
    const reply = written.error ? forPeople(written, { request: signsOf(req), requestId, pages, facts }) : written;
    const headers = headersOf(reply);
    this.status = reply.status;
    this.responseHeaders = headers;
    this.#changeResponse(headers);
    describeBody(headers, reply);
    this.bytesSent = writeReply({ req, res }, reply.status, headers, reply.body);
    this.finish();
  }

  /** Writes the head of an answer whose body somebody else writes. */
  writeHead(status: number, headers: readonly string[]): void {
    const { req, res } = this;
    const flat = [...headers];
    this.status = status;
    this.responseHeaders = flat;
    this.bytesSent = Number(findHeader(flat, 'content-length') ?? 0);
    this.#changeResponse(flat);
    writeHead({ req, res }, status, flat);
  }

  /** Detaches the socket of an upgrade. Headers that concerns recorded are sent with the response to the handshake. */
  releaseSocket(socket: Socket): void {
    for (const change of this.facts?.responseChanges ?? []) {
      if (change.op === 'append') this.res.appendHeader(change.name, change.value);
      else if (change.op === 'set' && change.where !== 'present') this.res.setHeader(change.name, change.value);
    }
    releaseSocket(this.res, socket);
  }

  /** The request is over: counts and logs it, once. */
  finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.release();
    this.durationMs = performance.now() - this.#start;
    if (this.#counted) this.#count();
    for (const log of this.listener.logs) log.write(this);
  }

  #changeResponse(headers: string[]): void {
    applyHeaderOps(headers, this.plan.headers.response, this);
    if (this.facts && this.facts.responseChanges.length > 0) applyRecorded(headers, this.facts.responseChanges);
    finishResponse(headers, this.listener.settings);
  }

  #count(): void {
    const { stats } = this.environment;
    stats.active.value--;
    countAnswer(stats, this.status);
    countAnswer(this.listener.answers, this.status);
    stats.time.observe(this.durationMs);
    if (this.flags === 'DC') stats.resetBeforeEnd.value++;
    if (this.host) this.#leave(this.host);
  }

  #leave(host: CompiledHost): void {
    if (--host.inFlight === 0 && host.retired) this.environment.onHostIdle(host);
  }
}
