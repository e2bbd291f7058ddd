import { hideCookies, type Endpoint, type Facts } from '@edge-gateway/core';
import type { ForwardPolicy, Plan } from '../route/compile/route.ts';
import { findHeader, setHeader } from '../http1/flat-headers.ts';
import type { RequestRecord } from '../format/record.ts';
import { matchedLength, type CompiledMatcher } from '../route/match/matcher.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import { hostOfEndpoint, type HostRewrite } from '../route/options/host-rewrite.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { rewritePrefix } from '../route/options/prefix-rewrite.ts';
import { applyRecorded, removeLookalikes } from './response-headers.ts';

/** A request whose route is known, on its way out. */
export interface OutgoingRequest extends RequestRecord {
  headers: string[];
  path: string;
  /** Set when its name was needed for the host. */
  endpoint: Endpoint | undefined;
  timeoutMs: number;
  readonly facts: Facts | undefined;
  readonly plan: Plan;
  readonly entry: { readonly matcher: CompiledMatcher } | undefined;
  readonly listener: { readonly settings: ManagerSettings };
}

/** What picks the endpoint. */
export interface Picks {
  pick(): Endpoint | undefined;
}

/**
 * Makes the head that the upstream gets, in place: recorded changes, header manipulation, host, path, limit.
 * Gives false when the path cannot be rewritten safely.
 */
export function makeUpstreamHead(request: OutgoingRequest, policy: ForwardPolicy, upstream: Picks): boolean {
  const { headers, facts } = request;
  if (facts) takeForDestination(headers, facts);
  applyHeaderOps(headers, request.plan.headers.request, request);
  rewriteHost(request, policy.host, upstream);
  if (!rewritePath(request, policy.prefixRewrite)) return false;
  if (policy.timeoutHeader !== '') setHeader(headers, 'x-envoy-expected-rq-timeout-ms', policy.timeoutHeader);
  request.timeoutMs = policy.timeoutMs;
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
  if (host === undefined || host === request.authority) return;
  const { headers, authority } = request;
  setHeader(headers, 'host', host);
  if (!rewrite.appendForwardedHost || authority === '') return;
  const before = findHeader(headers, 'x-forwarded-host');
  setHeader(headers, 'x-forwarded-host', before === undefined ? authority : `${before},${authority}`);
}

/** Puts the prefix in the path, in place. Gives false when the path cannot be rewritten safely. */
export function rewritePath(request: OutgoingRequest, prefix: string): boolean {
  if (prefix === '') return true;
  const { matcher } = request.entry!;
  const rewritten = rewritePrefix(request.path, matchedLength(matcher, request.pathname), prefix);
  if (rewritten === undefined) return false;
  if (rewritten === request.path) return true;
  if (!request.listener.settings.suppressEnvoyHeaders) {
    setHeader(request.headers, 'x-envoy-original-path', request.path);
  }
  request.path = rewritten;
  return true;
}
