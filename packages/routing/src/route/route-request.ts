import { NO_METADATA, NO_RESULT, NO_ROUTE, type RecordedConnection } from '../format/record.ts';
import type { RoutingErrorCode } from '../error-codes.ts';
import { parseAbsoluteTarget } from '../http1/authority.ts';
import type { MatchedRoute } from './compile/route.ts';
import type { CompiledHost } from './compile/virtual-host.ts';
import { sanitizeRequestHead, type DownstreamHead, type IncomingHead } from './downstream-head.ts';
import { canonicalPath } from './match/canonical-path.ts';
import type { DomainEntry } from './match/domain.ts';
import { findRoute, type RouteEntry } from './match/route-index.ts';
import { hasTwoSpellings, isReadDifferently } from './compile/guarded-paths.ts';
import { applyHeaderOps } from './options/header-manipulation.ts';
import type { ManagerSettings } from './options/manager-settings.ts';

/** The routing input of a listener. */
export interface RouteTable {
  readonly settings: ManagerSettings;
  /** Set if the settings are invalid: every request is rejected with 500. */
  readonly failed: string | undefined;
  findHost(authority: string): DomainEntry<CompiledHost> | undefined;
}

export interface IncomingRequest {
  readonly req: IncomingHead;
  readonly connection: RecordedConnection;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface RoutingMode {
  /** True in a user's own server: rewriting a path that is not canonical would bypass the handlers in front. */
  readonly embedded: boolean;
  readonly newRequestId: () => string;
}

/** The decision: a route, a rejection, a redirect, or no route (404). */
export interface RouteDecision {
  readonly head: DownstreamHead;
  readonly host: DomainEntry<CompiledHost> | undefined;
  /** The matched route; missing with a rejection or a redirect. */
  readonly entry: RouteEntry<MatchedRoute> | undefined;
  readonly rejected: RoutingErrorCode | undefined;
  /** To the canonical form of the path. */
  readonly redirect: { readonly status: number; readonly location: string } | undefined;
}

/**
 * Decides what happens to a request before any concern runs: sanitizes its head, finds its virtual host, and matches its
 * canonical path against the routes. Serving and explaining use this function. It has no effects; only `newRequestId` is
 * called.
 */
export function routeRequest(request: IncomingRequest, table: RouteTable, mode: RoutingMode): RouteDecision {
  const { settings } = table;
  const head = sanitizeRequestHead(request.req, request.connection, settings, mode.newRequestId);
  if (settings.earlyHeaders.length > 0) changeEarly(head, request, settings);
  const host = table.findHost(head.authority);
  if (table.failed !== undefined) return rejection('ERR_ROUTING_ROUTE', head, host);
  if (head.rejected !== undefined) return rejection(head.rejected, head, host);
  if (head.method === 'CONNECT') {
    head.setPath('');
    head.originalPath = '';
    return { head, host, entry: host && findRoute(host.value.index, head), rejected: undefined, redirect: undefined };
  }
  const canonical = canonicalPath(
    originForm(head, settings, mode),
    mode.embedded ? settings.embeddedPath : settings.path,
  );
  if ('refuse' in canonical) return rejection(canonical.refuse, head, host);
  if ('redirect' in canonical) {
    const redirect = { status: canonical.status, location: canonical.redirect };
    return { head, host, entry: undefined, rejected: undefined, redirect };
  }
  head.setPath(canonical.path);
  head.originalPath = canonical.path;
  const entry = host && findRoute(host.value.index, head);
  if (entry && host.value.guarded && isAmbiguous(head, entry, host.value))
    return rejection('ERR_ROUTING_AMBIGUOUS', head, host);
  return { head, host, entry, rejected: undefined, redirect: undefined };
}

function isAmbiguous(head: DownstreamHead, entry: RouteEntry<MatchedRoute>, { guarded, index }: CompiledHost): boolean {
  return isReadDifferently(head, entry, { guarded: guarded!, index }) || hasTwoSpellings(head);
}

/** Finds virtual host and route again, by a head that concerns have changed. */
export function routeAgain(head: DownstreamHead, table: RouteTable): Pick<RouteDecision, 'host' | 'entry'> {
  const host = table.findHost(head.authority);
  return { host, entry: host && findRoute(host.value.index, head) };
}

function rejection(code: RoutingErrorCode, head: DownstreamHead, host: RouteDecision['host']): RouteDecision {
  return { head, host, entry: undefined, rejected: code, redirect: undefined };
}

function changeEarly(
  head: DownstreamHead,
  { connection, startedAt }: IncomingRequest,
  { earlyHeaders }: ManagerSettings,
): void {
  const record = { startedAt, connection, head, route: NO_ROUTE, result: NO_RESULT, metadata: NO_METADATA };
  applyHeaderOps(head.headers, earlyHeaders, record);
}

/**
 * Returns the target as a path; the host of an absolute target is compared with `Host`, here or before. In a user's own server an absolute
 * target stays, and is rejected: handlers in front that compare paths have not seen its path.
 */
function originForm(
  { path: target, authority }: DownstreamHead,
  { stripAnyHostPort }: ManagerSettings,
  { embedded }: RoutingMode,
): string {
  if (embedded || target.startsWith('/')) return target;
  const absolute = parseAbsoluteTarget(target);
  if (absolute && (absolute.authority.toLowerCase() === authority.toLowerCase() || stripAnyHostPort)) {
    return absolute.path;
  }
  return target;
}
