import { fromByteString, type Listener, type RestCall, type Snapshot, type SnapshotUpstream } from '@edge-gateway/core';
import { hostOf } from '../http1/authority.ts';
import { findHeader } from '../http1/flat-headers.ts';
import {
  resolveAction,
  type CompiledDestination,
  type ForwardAction,
  type MatchedRoute,
} from '../route/compile/route.ts';
import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';
import { upgradeOf } from './head-to-explain.ts';
import type { RouteEntry } from '../route/match/route-index.ts';
import { explainPostRouting } from './explained-function.ts';
import { ExplainedHosts } from './explained-hosts.ts';
import { explainLookup } from './explained-lookup.ts';
import type { UpgradeKind } from '../route/options/upgrades.ts';
import { prepareResponder, prepareUpstream, type SendProblem } from '../serve/outgoing-request.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { ExplainedRequest } from './explained-request.ts';
import type { ExplainedDestination, Outcome } from './explanation.ts';

/** What a request is explained with. */
export interface OutcomeParts {
  readonly snapshot: Snapshot;
  readonly listener: Listener;
}

export function outcomeOf(parts: OutcomeParts, request: ExplainedRequest, entry: RouteEntry<MatchedRoute>): Outcome {
  const action = resolveAction(request.head, entry);
  if (action.type === 'failed') return { type: 'reply', ...refused(action.code), body: '', reason: action.reason };
  if (action.type === 'rejected') return { type: 'reply', ...refused(action.code), body: '' };
  if (action.type === 'redirected')
    return { type: 'redirect', status: action.status, location: fromByteString(action.location) };
  if (action.type === 'respond') {
    const code = prepareResponder(request.copyFor(action.plan), action, upgradeOf(request.req));
    if (code !== undefined) return { type: 'reply', ...refused(code), body: ERROR_CODES[code].message };
    return { type: 'reply', status: 200, body: '', reason: 'a GraphQL API responds' };
  }
  if (action.type === 'reply') {
    return { type: 'reply', status: action.status, body: action.body, reason: reasonOf(entry) };
  }
  const { action: source } = entry.route.source;
  const calls = source.type === 'forward' ? source.destinations.map(({ rest }) => rest) : [];
  const destinations = action.destinations.map((destination, i) =>
    explainDestination(parts, request, { action, destination, call: calls[i] }),
  );
  return { type: 'forward', destinations };
}

/** Why a route responds itself; for a replacement the cause, e.g. the missing upstream. */
function reasonOf(entry: RouteEntry<MatchedRoute>): string {
  const { action } = entry.route.source;
  if (action.type === 'direct') return 'direct response';
  const broken = action.type === 'replacement' && action.reason;
  return `replacement of a broken route${broken ? `: ${broken}` : ''}`;
}

function refused(code: RoutingErrorCode): { status: number; reason: string } {
  return { status: ERROR_CODES[code].status, reason: code };
}

function refusedWithBody(code: RoutingErrorCode): NonNullable<ExplainedDestination['reply']> {
  return { body: ERROR_CODES[code].message, ...refused(code) };
}

const BAD_REWRITE = 'the route rewrites the host to a value that is not a host name with an optional port';

interface Target {
  readonly action: ForwardAction;
  readonly destination: CompiledDestination;
  /** The function that the destination calls. */
  readonly call: RestCall | undefined;
}

function explainDestination(
  { snapshot, listener }: OutcomeParts,
  request: ExplainedRequest,
  { action, destination, call }: Target,
): ExplainedDestination {
  const chosen = chosenUpstream(request, destination);
  const namesHost = destination.dynamic?.type === 'host' ? destination.dynamic : undefined;
  const upstream = snapshot.upstreams.find(({ name }) => name === chosen);
  const hosts = upstream && new ExplainedHosts(upstream, request.hostStates?.(upstream.name));
  const outgoing = request.copyFor(destination, destination);
  const { head } = outgoing;
  const upgrade = upgradeOf(request.req);
  const problem = prepareUpstream(outgoing, {
    destination,
    action,
    upstream: namesHost ? HOST_FROM_REQUEST : hosts,
    upgrade,
  });
  const { pickContext } = outgoing;
  const picked = hosts?.pick(pickContext);
  const host = hosts?.choice(pickContext);
  const lookup = namesHost && !problem ? explainLookup(namesHost, head.headers, { snapshot, listener }) : undefined;
  const unsent = lookup ? lookup.reply : replyOf(problem, picked, upstream?.endpoints.length ?? 0);
  const postRouting = unsent ? {} : explainPostRouting(outgoing, destination, picked, call);
  const reply = unsent ?? postRouting.reply;
  const headers: [string, string][] = [];
  for (let i = 0; i < head.headers.length; i += 2)
    headers.push([head.headers[i]!, fromByteString(head.headers[i + 1]!)]);
  return {
    upstream: chosen || destination.upstream,
    ...(destination.subset && hosts?.hasSubsets && { subset: destination.subset }),
    share: action.total === 0 ? 0 : (destination.weight / action.total) * 100,
    ...(reply && { reply }),
    endpoints: upstream?.endpoints ?? [],
    hosts: hosts?.list(pickContext) ?? [],
    ...(host && { host }),
    ...(lookup?.namedHost && { namedHost: lookup.namedHost }),
    ...(postRouting.body !== undefined && { body: postRouting.body }),
    url: lookup
      ? lookup.origin && lookup.origin + head.path
      : urlOf(picked, schemeOf(upstream, action, upgrade), head.path),
    method: head.method,
    headers,
    timeoutMs: (outgoing.policy ?? action.policy).timeoutMs,
  };
}

/** The host of a request is resolved only when it is sent. */
const HOST_FROM_REQUEST = { pick: () => undefined };

/** Returns the cluster that the request would reach, which a header may name. */
function chosenUpstream({ head }: ExplainedRequest, { dynamic, upstream }: CompiledDestination): string {
  return dynamic?.type === 'clusterHeader' ? (findHeader(head.headers, dynamic.header) ?? '') : upstream;
}

function replyOf(
  problem: SendProblem | undefined,
  picked: Host | undefined,
  endpoints: number,
): ExplainedDestination['reply'] {
  if (problem?.type === 'replaced') return problem.by;
  if (problem?.type === 'noCluster') return { status: 503, body: '', reason: 'the upstream does not exist' };
  if (problem?.code === 'ERR_ROUTING_BAD_HOST') return { ...refusedWithBody(problem.code), reason: BAD_REWRITE };
  if (problem) return refusedWithBody(problem.code);
  const { status, message } = ERROR_CODES.ERR_ROUTING_NO_ENDPOINT;
  const reason = endpoints === 0 ? 'the upstream has no endpoint' : 'no host of the upstream can be used';
  return picked ? undefined : { status, body: message, reason };
}

/** A terminated tunnel carries no upstream HTTP request. */
function schemeOf(
  upstream: SnapshotUpstream | undefined,
  { policy }: ForwardAction,
  upgrade: UpgradeKind | undefined,
): string {
  if (upgrade === 'connect' && policy.upgrades.connect === 'terminate') return 'tcp';
  return upstream?.tls === true ? 'https' : 'http';
}

function urlOf(host: Host | undefined, scheme: string, path: string): string {
  return host ? `${scheme}://${hostOf(host)}${path}` : '';
}
