import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { factsOf, type Context, type Endpoint, type Facts, type Listener } from '@edge-gateway/core';
import { NO_METADATA, NO_RESULT, type RecordedConnection, type RequestRecord } from '../format/record.ts';
import type { CompiledDestination, Plan } from '../route/compile/route.ts';
import type { ConnectionFacts, DownstreamHead } from '../route/downstream-head.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { applyFacts } from '../route/request-changes.ts';
import type { IncomingRequest, RouteDecision } from '../route/route-request.ts';
import { ClientView } from '../serve/client-view.ts';
import { RequestRoute } from '../serve/request-route.ts';
import { takeRecorded, type OutgoingRequest } from '../serve/upstream-head.ts';

/** The client of an explained request, whose address nobody knows. */
const CLIENT = '127.0.0.1';

/** Returns a request as a listener gets it from a client on this machine. */
export function incomingRequest(
  req: IncomingMessage,
  { listener, context }: { readonly listener: Listener; readonly context: Context },
): IncomingRequest {
  const serverName = (req.socket as Partial<TLSSocket>).servername;
  const connection: ConnectionFacts & RecordedConnection = {
    protocol: 'HTTP/1.1',
    directAddress: CLIENT,
    directPort: 0,
    localAddress: listener.bindAddress,
    localPort: listener.bindPort,
    tls: listener.ssl,
    clientVerified: false,
    serverName: (listener.ssl && serverName) || '',
    tlsVersion: '',
  };
  return { req, connection, startedAt: context.now() };
}

/** A request that is decided but not sent. */
export class ExplainedRequest implements OutgoingRequest {
  readonly message: IncomingMessage;
  readonly connection: IncomingRequest['connection'];
  readonly startedAt: number;
  readonly settings: ManagerSettings;
  head: DownstreamHead;
  route = new RequestRoute();
  readonly result = NO_RESULT;
  facts: Facts | undefined;
  endpoint: Endpoint | undefined;

  constructor(
    message: IncomingMessage,
    { connection, startedAt }: IncomingRequest,
    { head, settings }: Pick<RouteDecision, 'head'> & { readonly settings: ManagerSettings },
  ) {
    this.message = message;
    this.connection = connection;
    this.startedAt = startedAt;
    this.settings = settings;
    this.head = head;
  }

  get metadata(): RequestRecord['metadata'] {
    return this.facts?.metadata ?? NO_METADATA;
  }

  /** Takes what was decided; destinations are decided later. */
  take({ host, entry }: Pick<RouteDecision, 'host' | 'entry'>): void {
    this.route.host = host?.value;
    this.route.entry = entry;
  }

  /** Returns the facts that concerns share. */
  shareFacts(): Facts {
    const { message, head } = this;
    message.url = head.path;
    this.facts = factsOf(message);
    this.facts.headers = head.headers;
    this.facts.connection = new ClientView(this.connection, head);
    return this.facts;
  }

  /** Applies what is recorded on the facts. */
  takeFacts(facts: Facts): void {
    applyFacts(this.head, facts);
    takeRecorded(this.head.headers, facts);
  }

  /** Returns the same request with the plan of an action, or of one of its destinations. */
  copyFor(plan: Plan, destination?: CompiledDestination): ExplainedRequest {
    const copy = Object.assign(Object.create(ExplainedRequest.prototype) as ExplainedRequest, this);
    copy.head = this.head.copy();
    copy.route = Object.assign(new RequestRoute(), this.route, { plan, destination });
    return copy;
  }
}
