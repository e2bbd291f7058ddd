import type { Destination, Route, VirtualHost } from '@edge-gateway/core';
import type { DownstreamHead } from '../downstream-head.ts';
import { findRoute, type RouteEntry, type RouteIndex } from '../match/route-index.ts';
import type { MatchedRoute } from './route.ts';

/** Options that control access. */
const ACCESS = ['extauth', 'rbac', 'jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;

type Options = VirtualHost['options'] | Route['options'] | Destination['options'];
type Block = { readonly disable?: boolean; readonly policies?: Readonly<Record<string, RbacPolicy>> };
type RbacPolicy = { readonly permissions?: { readonly pathPrefix?: string } };

/** The access to each route of a virtual host with policies. */
export interface GuardedPaths {
  /** False if the same policies apply to all paths. */
  readonly dependOnPath: boolean;
  /** Texts that are equal only for equal policies; `undefined` for a route that everybody can use. */
  readonly access: ReadonlyMap<Route, string | undefined>;
  /** The path prefixes of RBAC policies. */
  readonly prefixes: readonly string[];
}

/** Returns the policies of the routes of a virtual host; `undefined` if everybody can use all of them. */
export function guardedPathsOf({ options, routes }: VirtualHost): GuardedPaths | undefined {
  const all = [options, ...routes.flatMap((route) => [route.options, ...destinationOptionsOf(route)])];
  if (!all.some(hasAccess)) return undefined;
  const access = new Map(routes.map((route) => [route, accessOf(options, route)]));
  const prefixes = [...new Set(all.flatMap(prefixesOf))];
  const policies = new Set(access.values());
  if (policies.size === 1 && policies.has(undefined)) return undefined;
  return { dependOnPath: policies.size > 1 || prefixes.length > 1, access, prefixes };
}

const blockOf = (options: Options, name: (typeof ACCESS)[number]): Block | undefined =>
  (options as Readonly<Record<string, unknown>>)[name] as Block | undefined;

const hasAccess = (options: Options): boolean => ACCESS.some((name) => blockOf(options, name) !== undefined);

/** Returns the options of the destinations of a route that control access. */
function destinationOptionsOf({ action }: Route): Options[] {
  return action.type === 'forward' ? action.destinations.map(({ options }) => options).filter(hasAccess) : [];
}

function accessOf(host: Options, route: Route): string | undefined {
  const own = ACCESS.map((name) => blockOf(route.options, name) ?? blockOf(host, name));
  const ofDestinations = destinationOptionsOf(route).flatMap((options) => ACCESS.map((name) => blockOf(options, name)));
  const blocks = [...own, ...ofDestinations];
  return blocks.some((block) => block && block.disable !== true) ? JSON.stringify(blocks) : undefined;
}

function prefixesOf(options: Options): string[] {
  const policies = Object.values(blockOf(options, 'rbac')?.policies ?? {});
  return policies.map(({ permissions }) => permissions?.pathPrefix ?? '');
}

/** Escapes of slashes, semicolons, white space and control characters, and escapes that are not necessary; also of escapes. */
const ESCAPED = '%(?:25)*([01][\\da-f]|2[0def]|3[\\db]|4[1-9a-f]|5[\\dacf]|6[1-9a-f]|7[\\dae])';
const ESCAPES = new RegExp(ESCAPED, 'gi');
/** Characters that some servers decode, cut off or trim. */
const AMBIGUOUS = new RegExp(`;|//|${ESCAPED}`, 'i');

/**
 * Returns true if an upstream that decodes escapes, also twice, drops `;…`, trims segments and merges slashes would find another path, for which other
 * policies apply than for the path of the request.
 */
export function isReadDifferently(
  head: DownstreamHead,
  entry: RouteEntry<MatchedRoute>,
  { guarded, index }: { readonly guarded: GuardedPaths; readonly index: RouteIndex<MatchedRoute> },
): boolean {
  const { path, pathname } = head;
  if (!guarded.dependOnPath || !AMBIGUOUS.test(pathname)) return false;
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
  const decoded = pathname.replace(ESCAPES, (_escape, code: string) => {
    const char = String.fromCharCode(parseInt(code, 16));
    return char === '\\' ? '/' : char;
  });
  const segments = decoded.split('/').map((segment) => trimControls(segment.replace(/;.*$/s, '')));
  return segments.join('/').replace(/\/{2,}/g, '/');
}

/** Trims white space and control characters, as `trim()` of Java does. */
function trimControls(segment: string): string {
  let start = 0;
  let end = segment.length;
  while (start < end && segment.charCodeAt(start) <= 0x20) start++;
  while (end > start && segment.charCodeAt(end - 1) <= 0x20) end--;
  return segment.slice(start, end);
}

/** Returns true if a header was sent with underscores beside one with hyphens: many servers treat both as the same. */
export function hasTwoSpellings({ headers }: DownstreamHead): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (!headers[i]!.includes('_')) continue;
    const other = headers[i]!.replaceAll('_', '-');
    for (let at = 0; at < headers.length; at += 2) if (headers[at] === other) return true;
  }
  return false;
}
