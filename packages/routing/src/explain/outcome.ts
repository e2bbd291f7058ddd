import type { Snapshot } from '@edge-gateway/core';
import type { CompiledAction, CompiledDestination } from '../route/compile/route.ts';
import type { MatchedRoute } from '../route/compile/virtual-host.ts';
import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';
import { isHandshake } from './head-to-explain.ts';
import { matchedLength } from '../route/match/matcher.ts';
import type { RouteEntry } from '../route/match/route-index.ts';
import { locationOf } from '../route/options/redirect.ts';
import { makeUpstreamHead } from '../serve/upstream-head.ts';
import type { ExplainedRequest } from './explained-request.ts';
import type { ExplainedDestination, Outcome } from './explanation.ts';

type ForwardAction = Extract<CompiledAction, { readonly type: 'forward' }>;

/** What a route does with a request. */
export function outcomeOf(snapshot: Snapshot, request: ExplainedRequest, entry: RouteEntry<MatchedRoute>): Outcome {
  const { action, source } = entry.route.compiled;
  if (action.type === 'failed') return { type: 'reply', status: 500, body: '', reason: action.reason };
  if (action.type === 'redirect') {
    const matched = matchedLength(entry.matcher, request.pathname);
    const location = locationOf(action.redirect, { ...addressOf(request), matched });
    if (location === undefined) return { type: 'reply', ...refused('ERR_ROUTING_DOT_SEGMENT'), body: '' };
    return { type: 'redirect', status: action.redirect.status, location };
  }
  if (action.type === 'respond') {
    const reason = 'a GraphQL API answers';
    return { type: 'reply', status: 200, body: '', reason };
  }
  if (action.type === 'reply') {
    const reason = source.action.type === 'direct' ? 'direct response' : 'replacement of a broken route';
    return { type: 'reply', status: action.status, body: action.body, reason };
  }
  const destinations = action.destinations.map((destination) => explain(snapshot, request, { destination, action }));
  return { type: 'forward', destinations };
}

function addressOf({ scheme, authority, path, pathname }: ExplainedRequest) {
  return { scheme, authority, path, pathname };
}

function refused(code: RoutingErrorCode): { status: number; reason: string } {
  return { status: ERROR_CODES[code].status, reason: code };
}

interface OneWay {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
}

function explain(snapshot: Snapshot, request: ExplainedRequest, { destination, action }: OneWay): ExplainedDestination {
  const upstream = snapshot.upstreams.find(({ name }) => name === destination.upstream);
  const endpoints = upstream?.endpoints ?? [];
  const outgoing = request.copyFor(destination.upstream, destination);
  const sent = makeUpstreamHead(outgoing, action.policy, { pick: () => endpoints[0] });
  const headers: [string, string][] = [];
  for (let i = 0; i < outgoing.headers.length; i += 2) headers.push([outgoing.headers[i]!, outgoing.headers[i + 1]!]);
  const mayUpgrade = action.policy.websocket || !isHandshake(request.message);
  const reply = mayUpgrade
    ? replyOf(destination, { known: upstream !== undefined, endpoints: endpoints.length, sent })
    : { body: ERROR_CODES.ERR_ROUTING_UPGRADE.message, ...refused('ERR_ROUTING_UPGRADE') };
  return {
    upstream: destination.upstream,
    share: action.total === 0 ? 0 : (destination.weight / action.total) * 100,
    ...(reply && { reply }),
    endpoints,
    url: urlOf(endpoints[0], upstream?.tls === true, outgoing.path),
    method: request.method,
    headers,
    timeoutMs: action.policy.timeoutMs,
  };
}

function replyOf(
  { broken }: CompiledDestination,
  { known, endpoints, sent }: { readonly known: boolean; readonly endpoints: number; readonly sent: boolean },
): ExplainedDestination['reply'] {
  if (broken) return broken;
  if (!known) return { status: 503, body: '', reason: 'the upstream does not exist' };
  if (!sent) return { body: '', ...refused('ERR_ROUTING_DOT_SEGMENT') };
  const { status, message } = ERROR_CODES.ERR_ROUTING_NO_ENDPOINT;
  return endpoints === 0 ? { status, body: message, reason: 'the upstream has no endpoint' } : undefined;
}

function urlOf(endpoint: ExplainedDestination['endpoints'][number] | undefined, tls: boolean, path: string): string {
  if (!endpoint) return '';
  const host = endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address;
  return `${tls ? 'https' : 'http'}://${host}:${endpoint.port}${path}`;
}
