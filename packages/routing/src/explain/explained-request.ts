import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { factsOf, type Context, type Endpoint, type Facts, type Listener } from '@edge-gateway/core';
import { EMPTY_PLAN, type Plan } from '../route/compile/route.ts';
import type { MatchedRoute } from '../route/compile/virtual-host.ts';
import type { RoutingErrorCode } from '../error-codes.ts';
import { setHeader } from '../http1/flat-headers.ts';
import type { RouteEntry } from '../route/match/route-index.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { applyFacts } from '../serve/request-changes.ts';
import { takeIn } from '../route/downstream-head.ts';
import { takeRecorded, type OutgoingRequest } from '../serve/upstream-head.ts';

/** The client of an explained request, whose address nobody knows. */
const CLIENT = '127.0.0.1';

/** A request that is only looked at. */
export class ExplainedRequest implements OutgoingRequest {
  readonly message: IncomingMessage;
  method: string;
  readonly protocol = 'HTTP/1.1';
  readonly directAddress = CLIENT;
  readonly directPort = 0;
  readonly clientPort = 0;
  readonly localAddress: string;
  readonly localPort: number;
  readonly tlsVersion = '';
  readonly startedAt: number;
  readonly listener: { readonly settings: ManagerSettings };
  facts: Facts | undefined;
  readonly metadata = new Map<string, Readonly<Record<string, unknown>>>();
  readonly status = 0;
  readonly responseHeaders: readonly string[] = [];
  readonly details = '';
  readonly flags = '';
  readonly upstreamHost = '';
  readonly bytesReceived = 0;
  readonly bytesSent = 0;
  readonly durationMs = 0;
  readonly upstreamMs = -1;
  serverName = '';
  headers: string[] = [];
  authority = '';
  requestId = '';
  clientAddress = CLIENT;
  scheme: 'http' | 'https' = 'http';
  refuse: RoutingErrorCode | undefined;
  path: string;
  originalPath: string;
  pathname = '';
  routeName = '';
  virtualHost = '';
  upstream = '';
  plan: Plan = EMPTY_PLAN;
  entry: RouteEntry<MatchedRoute> | undefined;
  endpoint: Endpoint | undefined;
  timeoutMs = 0;

  constructor(message: IncomingMessage, place: Surroundings) {
    this.message = message;
    this.method = message.method!;
    this.path = this.originalPath = message.url!;
    this.localAddress = place.listener.bindAddress;
    this.localPort = place.listener.bindPort;
    this.startedAt = place.context.now();
    this.listener = { settings: place.settings };
  }

  /** Returns a message with the facts that concerns share. */
  shareFacts(): IncomingMessage {
    const { message, path, headers } = this;
    message.url = path;
    this.facts = factsOf(message);
    this.facts.headers = headers;
    this.facts.connection = this;
    return message;
  }

  /** Applies what is recorded on the facts. */
  takeFacts(facts: Facts): void {
    applyFacts(this, facts);
    takeRecorded(this.headers, facts);
  }

  /** Takes the route that was found. */
  take(entry: RouteEntry<MatchedRoute>, virtualHost: string): void {
    this.entry = entry;
    this.routeName = entry.route.name;
    this.virtualHost = virtualHost;
  }

  /** The same request on its way to one destination. */
  copyFor(upstream: string, plan: Plan): ExplainedRequest {
    const copy = Object.assign(Object.create(ExplainedRequest.prototype) as ExplainedRequest, this);
    copy.headers = [...this.headers];
    copy.upstream = upstream;
    copy.plan = plan;
    return copy;
  }
}

/** What a request is taken in with. */
export interface Surroundings {
  readonly listener: Listener;
  readonly settings: ManagerSettings;
  readonly context: Context;
}

/** Takes a request in as a listener would, for a client on this machine. */
export function takeInToExplain(message: IncomingMessage, place: Surroundings): ExplainedRequest {
  const raw = message.rawHeaders;
  const { listener, settings } = place;
  const connection = { directAddress: CLIENT, localPort: listener.bindPort, tls: listener.ssl, clientVerified: false };
  const taken = takeIn(raw, connection, settings);
  const request = new ExplainedRequest(message, place);
  request.headers = taken.headers;
  request.authority = taken.authority;
  request.requestId = taken.requestId;
  request.clientAddress = taken.clientAddress;
  request.scheme = taken.scheme;
  request.refuse = taken.refuse;
  if (listener.ssl) request.serverName = (message.socket as Partial<TLSSocket>).servername || '';
  // Each request gets another id: showing one would make two explanations differ.
  if (!raw.includes(taken.requestId) && taken.requestId !== '') setHeader(taken.headers, 'x-request-id', '(generated)');
  return request;
}
