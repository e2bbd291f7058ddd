import type { IncomingMessage } from 'node:http';
import { canonicalName, factsOf, hideCookies, type Destination, type Facts } from '@edge-gateway/core';
import type { RoutingErrorCode } from '../error-codes.ts';
import type { RecordedHead, RecordedRoute, RequestRecord } from '../format/record.ts';
import { proxiedOf } from '../format/proxied.ts';
import { setHeader } from '../http1/flat-headers.ts';
import {
  EMPTY_PLAN,
  type CompiledDestination,
  type ForwardAction,
  type ForwardPolicy,
  type MatchedRoute,
  type Plan,
  type RespondAction,
} from '../route/compile/route.ts';
import type { CompiledHost } from '../route/compile/virtual-host.ts';
import type { DownstreamHead } from '../route/downstream-head.ts';
import { matchedLength } from '../route/match/matcher.ts';
import type { RouteEntry } from '../route/match/route-index.ts';
import { ATTEMPT_COUNT, expectedTimeoutMs } from '../route/options/attempts.ts';
import { limitsForCaller } from '../route/options/caller-limits.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import { hostOfEndpoint, rewriteHost } from '../route/options/host-rewrite.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { allowsUpgrade, type UpgradeKind } from '../route/options/upgrades.ts';
import { rewritePath, type PathRewrite } from '../route/options/path-rewrite.ts';
import { ClientView } from '../format/connection-record.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';
import { pickContextOf, type HostChoice } from './host-choice.ts';
import { applyRecorded, removeLookalikes } from './response-headers.ts';

const EXPECTED_TIMEOUT = 'x-envoy-expected-rq-timeout-ms';

export class RequestRoute implements RecordedRoute {
  host: CompiledHost | undefined;
  entry: RouteEntry<MatchedRoute> | undefined;
  plan: Plan = EMPTY_PLAN;
  destination: CompiledDestination | undefined;
  /** The cluster that the request chose. */
  chosen: string | undefined;

  get routeName(): string {
    return this.entry?.route.name ?? '';
  }

  get virtualHost(): string {
    return this.host?.source.name ?? '';
  }

  get upstream(): string {
    return this.chosen ?? this.destination?.upstream ?? '';
  }

  get routeMetadata(): RecordedRoute['routeMetadata'] {
    return this.entry?.route.source.options.envoyMetadata;
  }

  virtualClusterOf(head: RecordedHead): string {
    return this.host?.virtualClusters?.nameOf(head) ?? '';
  }
}

/** A request with a selected route. */
export interface OutgoingRequest extends RequestRecord {
  readonly req: IncomingMessage;
  readonly head: DownstreamHead;
  readonly route: RequestRoute;
  facts: Facts | undefined;
  /** That of the route, with what an internal caller sets. Set once it is sent upstream. */
  policy: ForwardPolicy | undefined;
  readonly settings: ManagerSettings;
  /** Set if its name was needed for the host. */
  endpoint: Host | undefined;
  /** What the choice of the host depends on. */
  pickContext: PickContext | undefined;
}

/** Creates the facts that concerns share, and returns them. */
export function shareFacts(request: OutgoingRequest): Facts {
  const { req, head, route } = request;
  const facts = (request.facts = factsOf(req));
  facts.requestId = head.requestId;
  facts.path = head.path;
  facts.method = head.method;
  facts.headers = head.headers;
  facts.connection = new ClientView(req, head);
  const proxied = proxiedOf(req.socket);
  if (proxied) for (const [namespace, values] of proxied.metadata) facts.metadata.set(namespace, { ...values });
  facts.routeName = route.routeName;
  facts.upstream = route.upstream;
  facts.bufferLimitBytes = request.settings.bufferLimitBytes;
  facts.passesTrailers = request.settings.trailers !== undefined || req.httpVersionMajor > 1;
  return facts;
}

export type SendProblem =
  | { readonly type: 'replaced'; readonly by: NonNullable<Destination['broken']> }
  | { readonly type: 'noCluster' }
  | { readonly type: 'rejected'; readonly code: RoutingErrorCode };

export interface EndpointPicker {
  pick(context?: PickContext): Host | undefined;
}

export interface UpstreamChoice {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  /** Missing if its cluster does not exist. */
  readonly upstream: EndpointPicker | undefined;
  /** Set if the request asks for an upgrade. */
  readonly upgrade: UpgradeKind | undefined;
}

/**
 * Changes the head in place to the one sent to the destination: recorded changes, header manipulation, host, path, limit. Returns
 * what prevents sending it.
 */
export function prepareUpstream(request: OutgoingRequest, choice: UpstreamChoice): SendProblem | undefined {
  const { destination, action, upstream, upgrade } = choice;
  const { hash, host, path, upgrades } = action.policy;
  if (!allowsUpgrade(upgrades, upgrade)) return { type: 'rejected', code: 'ERR_ROUTING_UPGRADE' };
  // Method changes must not turn a request into a tunnel or a tunnel into a request.
  if ((upgrade === 'connect') !== (request.head.method === 'CONNECT'))
    return { type: 'rejected', code: 'ERR_ROUTING_METHOD_NOT_ALLOWED' };
  if (destination.broken) return { type: 'replaced', by: destination.broken };
  if (!upstream) return { type: 'noCluster' };
  const policy = policyFor(request, action.policy);
  changeHeaders(request);
  if (hash || destination.subset || request.settings.session) chooseHost(request, { hash, subset: destination.subset });
  if (host.from === 'endpoint') request.endpoint = upstream.pick(request.pickContext);
  if (!rewriteHost(request.head, host, request.endpoint, request.settings))
    return { type: 'rejected', code: 'ERR_ROUTING_BAD_HOST' };
  if (path && upgrade !== 'connect' && !changePath(request, path))
    return { type: 'rejected', code: 'ERR_ROUTING_DOT_SEGMENT' };
  if (policy.timeoutHeader !== '') setHeader(request.head.headers, EXPECTED_TIMEOUT, policy.timeoutHeader);
  if (policy.countForUpstream) setHeader(request.head.headers, ATTEMPT_COUNT, '1');
  return undefined;
}

function policyFor(request: OutgoingRequest, policy: ForwardPolicy): ForwardPolicy {
  const { settings, head } = request;
  if (!settings.isInternal) return (request.policy = policy);
  return (request.policy = limitsForCaller(policy, head.headers, !settings.suppressEnvoyHeaders));
}

function chooseHost(request: OutgoingRequest, choice: HostChoice): void {
  request.pickContext = pickContextOf(request, choice, (value) => {
    const facts = request.facts ?? shareFacts(request);
    facts.responseChanges.push({ op: 'append', name: 'set-cookie', value });
  });
}

/** Changes the head in place for a retry: number of the attempt, remaining time, and the host if it is that of the endpoint. */
export function prepareRetry(
  { head, endpoint }: OutgoingRequest,
  policy: ForwardPolicy,
  retry: { readonly attempt: number; readonly host: Host; readonly elapsedMs: number },
): void {
  const { headers } = head;
  if (policy.timeoutHeader !== '') {
    setHeader(headers, EXPECTED_TIMEOUT, String(expectedTimeoutMs(policy, retry.elapsedMs)));
  }
  if (policy.countForUpstream) setHeader(headers, ATTEMPT_COUNT, String(retry.attempt));
  const host = endpoint && hostOfEndpoint(retry.host);
  if (host !== undefined) setHeader(headers, 'host', host);
}

/** Changes the head in place to the one passed to an action of a package; returns the code of a rejected request. */
export function prepareResponder(
  request: OutgoingRequest,
  { path, upgrades }: RespondAction,
  upgrade: UpgradeKind | undefined,
): RoutingErrorCode | undefined {
  if (request.head.method === 'CONNECT') return 'ERR_ROUTING_UPGRADE';
  changeHeaders(request);
  if (path && !changePath(request, path)) return 'ERR_ROUTING_DOT_SEGMENT';
  return allowsUpgrade(upgrades, upgrade) ? undefined : 'ERR_ROUTING_UPGRADE';
}

/** Removes the cookies that are not forwarded, and applies the changes of concerns and of the route. */
function changeHeaders(request: OutgoingRequest): void {
  const { head, facts, route } = request;
  if (facts) {
    hideCookies(facts);
    applyRequestChanges(head.headers, facts);
  }
  applyHeaderOps(head.headers, route.plan.headers.request, request);
}

/** Applies the changes of concerns, once. Spellings of changed header names with underscores are removed too. */
export function applyRequestChanges(headers: string[], facts: Facts): void {
  const { requestChanges } = facts;
  if (requestChanges.length === 0) return;
  const set = requestChanges.filter(({ op }) => op !== 'append').map(({ name }) => name);
  if (facts.passesTrailers) (facts.guardedNames ??= []).push(new Set(set.map(canonicalName)));
  removeLookalikes(headers, set);
  applyRecorded(headers, requestChanges);
  requestChanges.length = 0;
}

/** Rewrites the path in place. Returns false if the path cannot be rewritten safely. */
function changePath({ head, route, settings }: OutgoingRequest, rewrite: PathRewrite): boolean {
  const { matcher } = route.entry!;
  const rewritten = rewritePath(head.path, matchedLength(matcher, head.pathname), rewrite);
  if (rewritten === undefined) return false;
  if (rewritten === head.path) return true;
  if (!settings.suppressEnvoyHeaders) setHeader(head.headers, 'x-envoy-original-path', head.path);
  head.path = rewritten;
  return true;
}
