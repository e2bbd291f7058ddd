import { hideCookies, type Endpoint, type Facts } from '@edge-gateway/core';
import type { ForwardPolicy } from '../route/compile/route.ts';
import type { DownstreamHead } from '../route/downstream-head.ts';
import { findHeader, setHeader } from '../http1/flat-headers.ts';
import type { RequestRecord } from '../format/record.ts';
import { matchedLength } from '../route/match/matcher.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import { hostOfEndpoint, type HostRewrite } from '../route/options/host-rewrite.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { rewritePrefix } from '../route/options/prefix-rewrite.ts';
import type { RequestRoute } from './request-route.ts';
import { applyRecorded, removeLookalikes } from './response-headers.ts';

/** A request whose route is known, on its way out. */
export interface OutgoingRequest extends RequestRecord {
  readonly head: DownstreamHead;
  readonly route: RequestRoute;
  readonly facts: Facts | undefined;
  readonly settings: ManagerSettings;
  /** Set if its name was needed for the host. */
  endpoint: Endpoint | undefined;
}

/** What picks the endpoint. */
export interface Picks {
  pick(): Endpoint | undefined;
}

/**
 * Makes the head that the upstream gets, in place: recorded changes, header manipulation, host, path, limit.
 * Returns false if the path cannot be rewritten safely.
 */
export function makeUpstreamHead(request: OutgoingRequest, policy: ForwardPolicy, upstream: Picks): boolean {
  const { head, facts, route } = request;
  if (facts) takeForDestination(head.headers, facts);
  applyHeaderOps(head.headers, route.plan.headers.request, request);
  rewriteHost(request, policy.host, upstream);
  if (!rewritePath(request, policy.prefixRewrite)) return false;
  if (policy.timeoutHeader !== '') setHeader(head.headers, 'x-envoy-expected-rq-timeout-ms', policy.timeoutHeader);
  return true;
}

/** Applies the changes of concerns, and removes the cookies that are not forwarded. */
export function takeForDestination(headers: string[], facts: Facts): void {
  hideCookies(facts);
  takeRecorded(headers, facts);
}

/** Applies, once, what concerns recorded. Names that are set or removed lose their spellings with underscores too. */
export function takeRecorded(headers: string[], { requestChanges }: Facts): void {
  if (requestChanges.length === 0) return;
  const set = requestChanges.filter(({ op }) => op !== 'append').map(({ name }) => name);
  removeLookalikes(headers, set);
  applyRecorded(headers, requestChanges);
  requestChanges.length = 0;
}

function rewriteHost(request: OutgoingRequest, rewrite: HostRewrite, upstream: Picks): void {
  if (rewrite.auto) request.endpoint = upstream.pick();
  const host = rewrite.literal ?? (rewrite.auto ? hostOfEndpoint(request.endpoint) : undefined);
  const { headers, authority } = request.head;
  if (host === undefined || host === authority) return;
  setHeader(headers, 'host', host);
  if (!rewrite.appendForwardedHost || authority === '') return;
  const before = findHeader(headers, 'x-forwarded-host');
  setHeader(headers, 'x-forwarded-host', before === undefined ? authority : `${before},${authority}`);
}

/** Puts the prefix in the path, in place. Returns false if the path cannot be rewritten safely. */
export function rewritePath({ head, route, settings }: OutgoingRequest, prefix: string): boolean {
  if (prefix === '') return true;
  const { matcher } = route.entry!;
  const rewritten = rewritePrefix(head.path, matchedLength(matcher, head.pathname), prefix);
  if (rewritten === undefined) return false;
  if (rewritten === head.path) return true;
  if (!settings.suppressEnvoyHeaders) setHeader(head.headers, 'x-envoy-original-path', head.path);
  head.path = rewritten;
  return true;
}
