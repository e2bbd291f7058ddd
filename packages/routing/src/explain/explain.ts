import type { IncomingMessage } from 'node:http';
import { createContext, type Context, type Listener, type Snapshot } from '@edge-gateway/core';
import { ERROR_CODES, routingError } from '../error-codes.ts';
import { parseAbsoluteTarget, type AbsoluteTarget } from '../http1/authority.ts';
import { SERVER_OPTIONS, isServerWide } from '../check/check-head.ts';
import { refusal, type Refusal } from '../check/refusal.ts';
import type { CompiledHost } from '../route/compile/virtual-host.ts';
import type { DomainEntry } from '../route/match/domain.ts';
import { routeRequest, type RouteDecision, type RouteTable, type RoutingMode } from '../route/route-request.ts';
import { ConnectionRecord } from '../format/connection-record.ts';
import { appliedOptions } from './applied-options.ts';
import { chooseListener } from './choose-listener.ts';
import type { Explanation, Outcome, RequestToExplain } from './explanation.ts';
import { ExplainedRequest } from './explained-request.ts';
import { createExplainedTable } from './explained-table.ts';
import { headToExplain, nameWithoutCertificate, needsClientCertificate, rejectionOf } from './head-to-explain.ts';
import { outcomeOf } from './outcome.ts';

/**
 * Explains how a snapshot serves a request and why, with the code that serves: listener, virtual host, routes with the
 * failed conditions, options, and the request to the upstream. Sends nothing. Concerns do not run, except
 * transformations; `asked.admit` replaces the others. If destinations have transformations of their own,
 * those of the first count. Values of secrets are only filled in from a `context` that has
 * them; it also tells which certificates have a `ca.crt` and thus require client certificates. Throws
 * `ERR_ROUTING_BAD_TARGET` for an invalid URL.
 *
 * @example
 * const { outcome } = explainRequest(snapshot, { method: 'GET', url: 'http://a.example:8080/pets' });
 */
export function explainRequest(
  snapshot: Snapshot,
  asked: RequestToExplain,
  context: Context = createContext({ secrets: { get: () => ({ type: 'Opaque', data: {} }) } }),
): Explanation {
  const url = readUrl(asked.url);
  const { listener, verdicts } = chooseListener(
    snapshot,
    { ...url, host: serverNameOf(url.authority) },
    asked.listener,
  );
  const request = { method: asked.method, host: url.authority, path: url.path };
  const bare = { listeners: verdicts, otherDomains: [], routes: [], options: [], effects: [], request };
  if (!listener) return { ...bare, outcome: reply(0, '', 'no listener matches the request') };
  const head = headToExplain(asked, url, listener);
  const unknownName = nameWithoutCertificate(head, listener, context.secrets);
  if (unknownName !== undefined)
    return {
      ...bare,
      outcome: reply(0, '', `the TLS handshake fails: no certificate for the server name ${unknownName}`),
    };
  const needsCertificate = needsClientCertificate(head, listener, context.secrets);
  const explained = explainOnListener({ snapshot, listener, context }, asked, head);
  return { ...bare, ...(needsCertificate && { needsClientCertificate: true }), ...explained };
}

/** Returns the name that a client sends in a TLS handshake for a host. */
function serverNameOf(authority: string): string {
  return authority.replace(/:\d+$/, '').toLowerCase();
}

type Explained = Pick<Explanation, 'outcome'> & Partial<Explanation>;

/** Each request gets another id: showing one would make two explanations differ. */
const MODE: RoutingMode = { embedded: false, newRequestId: () => '(generated)' };

interface ListenerParts {
  readonly snapshot: Snapshot;
  readonly listener: Listener;
  readonly context: Context;
}

function explainOnListener(
  { snapshot, listener, context }: ListenerParts,
  { admit, hostStates }: RequestToExplain,
  req: IncomingMessage,
): Explained {
  const table = createExplainedTable(snapshot, listener, context);
  const refused = rejectionOf(req, listener, context.secrets);
  if (refused) return { ...misdirectedTo(table, refused, req), outcome: replyOf(refused) };
  if (isServerWide(req))
    return { outcome: reply(SERVER_OPTIONS.status, '', 'the gateway itself responds to OPTIONS *') };
  if (table.failed !== undefined) return { outcome: reply(500, '', 'invalid listener settings') };
  const incoming = { req, connection: new ConnectionRecord(req), startedAt: context.now() };
  const decision = routeRequest(incoming, table, MODE);
  const request = new ExplainedRequest(req, incoming, decision.head, table);
  request.hostStates = hostStates;
  const explained = explainDecision({ snapshot, listener, admit }, request, decision);
  const { method, authority, originalPath } = request.head;
  return { ...explained, request: { method, host: authority, path: originalPath } };
}

function explainDecision(
  { snapshot, listener, admit }: Omit<ListenerParts, 'context'> & Pick<RequestToExplain, 'admit'>,
  request: ExplainedRequest,
  first: RouteDecision,
): Explained {
  if (first.rejected !== undefined) return { outcome: replyOf(refusal(first.rejected)) };
  if (first.redirect) return { outcome: { type: 'redirect', ...first.redirect } };
  const rejected = request.admit(first, admit);
  const rejection = rejected && reply(rejected.status, rejected.body, rejected.reason);
  const { host, routes, effects } = request;
  if (!host) {
    const outcome = rejection ?? unmatched(request, 'no virtual host has this domain');
    return { otherDomains: listener.virtualHosts.flatMap(({ domains }) => domains), outcome };
  }
  const virtualHost = namesOf(host);
  const { entry } = request.route;
  if (!entry) return { virtualHost, routes, effects, outcome: rejection ?? unmatched(request, 'no route matches') };
  const options = appliedOptions(listener, host.value.source, entry.route.source);
  return {
    virtualHost,
    routes,
    options,
    effects,
    outcome: rejection ?? outcomeOf({ snapshot, listener }, request, entry),
  };
}

/** The response to a request that no route matches. */
function unmatched({ head }: ExplainedRequest, reason: string): Outcome {
  if (head.method !== 'CONNECT') return reply(404, '', reason);
  return replyOf(refusal('ERR_ROUTING_METHOD_NOT_ALLOWED', { detail: `${reason}: CONNECT needs a connectMatcher` }));
}

function namesOf({ domain, value }: DomainEntry<CompiledHost>): NonNullable<Explanation['virtualHost']> {
  const { name, virtualService } = value.source;
  return { name, virtualService, domain };
}

/** Returns the virtual host of a request on a connection for another host. */
function misdirectedTo(table: RouteTable, { code }: Refusal, { headers }: IncomingMessage): Partial<Explanation> {
  const found = code === 'ERR_ROUTING_MISDIRECTED' ? table.findHost(headers.host ?? '') : undefined;
  return found ? { virtualHost: namesOf(found) } : {};
}

/** A URL with its path as written. */
interface WrittenUrl extends AbsoluteTarget {
  readonly tls: boolean;
  readonly port: number | undefined;
}

/**
 * Parses a URL without resolving dot segments, unlike `URL`. Its fragment is not part of a request. `*` is the target
 * of `OPTIONS *`, which has no host.
 */
function readUrl(written: string): WrittenUrl {
  if (written === '*') return { tls: false, authority: 'localhost', path: '*', port: undefined };
  const absolute = parseAbsoluteTarget(written.replace(/#.*$/, ''));
  if (!absolute) {
    const { message } = ERROR_CODES.ERR_ROUTING_BAD_TARGET;
    throw routingError('ERR_ROUTING_BAD_TARGET', `${written}: ${message}`);
  }
  const port = /:(\d+)$/.exec(absolute.authority)?.[1];
  return { ...absolute, tls: /^https:/i.test(written), port: port === undefined ? undefined : Number(port) };
}

function replyOf({ code, status, message, detail }: Refusal): Outcome {
  return reply(status, message, detail === undefined ? code : `${code}: ${detail}`);
}

function reply(status: number, body: string, reason: string): Outcome {
  return { type: 'reply', status, body, reason };
}
