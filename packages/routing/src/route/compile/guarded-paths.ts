import type { Route, VirtualHost } from '@edge-gateway/core';
import type { DownstreamHead } from '../downstream-head.ts';
import { findRoute, type RouteEntry, type RouteIndex } from '../match/route-index.ts';
import type { MatchedRoute } from './route.ts';

/** Options that control access. */
const ACCESS = ['extauth', 'rbac', 'jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;

type Options = VirtualHost['options'] | Route['options'];
type Block = { readonly disable?: boolean; readonly policies?: Readonly<Record<string, RbacPolicy>> };
type RbacPolicy = { readonly permissions?: { readonly pathPrefix?: string } };

/** The access to each route of a virtual host whose paths have different policies. */
export interface GuardedPaths {
  /** Texts that are equal only for equal policies; `undefined` for a route that everybody can use. */
  readonly access: ReadonlyMap<Route, string | undefined>;
  /** The path prefixes of RBAC policies. */
  readonly prefixes: readonly string[];
}

/** Returns the policies of the routes of a virtual host; `undefined` if none depends on the path. */
export function guardedPathsOf({ options, routes }: VirtualHost): GuardedPaths | undefined {
  if (![options, ...routes.map((route) => route.options)].some(hasAccess)) return undefined;
  const access = new Map(routes.map((route) => [route, accessOf(options, route.options)]));
  const prefixes = [...new Set([options, ...routes.map((route) => route.options)].flatMap(prefixesOf))];
  return new Set(access.values()).size > 1 || prefixes.length > 1 ? { access, prefixes } : undefined;
}

const blockOf = (options: Options, name: (typeof ACCESS)[number]): Block | undefined =>
  (options as Readonly<Record<string, unknown>>)[name] as Block | undefined;

const hasAccess = (options: Options): boolean => ACCESS.some((name) => blockOf(options, name) !== undefined);

function accessOf(host: Options, route: Options): string | undefined {
  const blocks = ACCESS.map((name) => blockOf(route, name) ?? blockOf(host, name));
  return blocks.some((block) => block && block.disable !== true) ? JSON.stringify(blocks) : undefined;
}

function prefixesOf(options: Options): string[] {
  const policies = Object.values(blockOf(options, 'rbac')?.policies ?? {});
  return policies.map(({ permissions }) => permissions?.pathPrefix ?? '');
}

/** Characters that some servers decode, cut off or trim. */
const AMBIGUOUS = /;|\/\/|%(?:25)*(?:2f|5c|3b|20|0[9ad])/i;

/**
 * Returns true if an upstream that decodes slashes, drops `;…`, trims segments and merges slashes would find another path, for which other
 * policies apply than for the path of the request.
 */
export function isReadDifferently(
  head: DownstreamHead,
  entry: RouteEntry<MatchedRoute>,
  { guarded, index }: { readonly guarded: GuardedPaths; readonly index: RouteIndex<MatchedRoute> },
): boolean {
  const { path, pathname } = head;
  if (!AMBIGUOUS.test(pathname)) return false;
  const other = lenientReading(pathname);
  if (other === pathname) return false;
  if (guarded.prefixes.some((prefix) => other.startsWith(prefix) && !pathname.startsWith(prefix))) return true;
  head.setPath(other + path.slice(pathname.length));
  const found = findRoute(index, head);
  head.setPath(path);
  if (!found || found.route.source === entry.route.source) return false;
  const access = guarded.access.get(found.route.source);
  return access !== undefined && access !== guarded.access.get(entry.route.source);
}

function lenientReading(pathname: string): string {
  const decoded = pathname.replace(/%(?:25)*(2f|5c|3b|20|0[9ad])/gi, (_escape, code: string) => {
    const char = String.fromCharCode(parseInt(code, 16));
    return char === '\\' ? '/' : char;
  });
  const segments = decoded.split('/').map((segment) => segment.replace(/;.*$/s, '').trim());
  return segments.join('/').replace(/\/{2,}/g, '/');
}

/** Returns true if a header was sent with underscores beside one with hyphens: many servers treat both as the same. */
export function hasTwoSpellings({ headers }: DownstreamHead): boolean {
  const names = new Set<string>();
  for (let i = 0; i < headers.length; i += 2) names.add(headers[i]!);
  for (const name of names) if (name.includes('_') && names.has(name.replaceAll('_', '-'))) return true;
  return false;
}
