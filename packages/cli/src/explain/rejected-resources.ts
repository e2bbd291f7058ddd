import { formatPath, type Problem, type ResourceRef, type Snapshot } from '@edge-gateway/core';
import type { Explanation } from '@edge-gateway/routing';
import type { AccessExplanation } from './access.ts';
import { differsInPort, matchesDomain } from './port-in-host.ts';
import { items, type StatusObject } from '../resources/objects.ts';
import { reportsOf } from '../resources/status.ts';
import type { IsRouteOfRequest } from './written-routes.ts';

/** A rejected resource that is relevant for an explanation. */
export interface RejectedResource extends ResourceRef {
  readonly kind: string;
  readonly reason: string;
  /** True if it is behind the response: its last good version is served. */
  readonly serves: boolean;
  /** True if the resource is accepted, but a part with a broken reference is served as it was before. */
  readonly keeps?: boolean;
  /** True if the resource is accepted, but routes are missing because it delegates to a route table that is not served. */
  readonly lacksRoutes?: boolean;
}

/** The served resources, their problems, and which of their routes a request would match. */
interface ServedResources {
  readonly objects: readonly StatusObject[];
  readonly problems: readonly Problem[];
  readonly isRouteOfRequest: IsRouteOfRequest;
}

type Explained = Explanation & { readonly access?: AccessExplanation };

/**
 * Returns the rejected resources behind a response; if no virtual host or route matches the request, the rejected
 * virtual services and route tables, one of which may have been meant to match.
 */
export function rejectedBehind(
  explanation: Explained,
  snapshot: Snapshot,
  { objects, problems, isRouteOfRequest }: ServedResources,
): RejectedResource[] {
  const behind = new Set(resourcesBehind(explanation, snapshot));
  const delegated = new Set(sourcesOf(explanation, snapshot));
  const isTaken = explanation.routes.some(({ matched }) => matched);
  const wasAsked =
    explanation.listeners.some(({ chosen }) => chosen) && (explanation.otherDomains.length > 0 || !isTaken);
  return objects.flatMap((object) => {
    const { kind, metadata } = object;
    const isRejected = reportsOf(object).some(({ state }) => state === 'Rejected');
    const own = problems.filter((one) => one.name !== undefined && idOf(one.kind, one) === idOf(kind, metadata));
    const serves = behind.has(idOf(kind, metadata));
    const isMeant = wasAsked && mayBeMeant(object, explanation);
    const { namespace, name } = metadata;
    if (!isRejected) {
      const isServed = serves || delegated.has(idOf(kind, metadata));
      return (isServed ? own : []).flatMap((problem): RejectedResource[] => {
        const { effect, message: reason } = problem;
        const ofRequest = isRouteOfRequest(object, problem);
        if (effect === 'keeps-last-good' && serves && ofRequest !== false)
          return [{ kind, namespace, name, reason, serves, keeps: true }];
        const lacksRoutes = effect === 'lacks-routes' && (ofRequest ?? (!isTaken && kind === 'VirtualService'));
        return lacksRoutes ? [{ kind, namespace, name, reason, serves, lacksRoutes }] : [];
      });
    }
    if (!serves && !isMeant) return [];
    const first = own.find(({ severity }) => severity === 'error');
    return [{ kind, namespace, name, reason: first ? reasonOf(first) : '', serves }];
  });
}

/** A virtual service whose domains are known is only meant if one of them matches, and none if only the port differs. */
function mayBeMeant({ kind, spec }: StatusObject, { request, otherDomains }: Explained): boolean {
  const isPortWrong = otherDomains.some((domain) => differsInPort(domain, request.host));
  if (kind === 'RouteTable') return !isPortWrong;
  if (kind !== 'VirtualService') return false;
  const domains = items(spec, 'virtualHost', 'domains').map(String);
  if (domains.length === 0) return !isPortWrong;
  return domains.some((domain) => matchesDomain(domain, request.host) || differsInPort(domain, request.host));
}

function reasonOf({ path, message, hint }: Problem): string {
  const field = formatPath(path);
  return `${field && `${field}: `}${message}${hint ? ` (${hint})` : ''}`;
}

function resourcesBehind(explanation: Explained, snapshot: Snapshot): string[] {
  const { virtualHost, routes, access, outcome } = explanation;
  const upstreams = outcome.type === 'forward' ? outcome.destinations.map(({ upstream }) => upstream) : [];
  const [namespace = '', name = ''] = access?.extauth?.authConfig?.split('/') ?? [];
  return [
    ...(virtualHost ? [idOf('VirtualService', virtualHost.virtualService)] : []),
    ...routes.flatMap(({ matched, source }) => (matched ? [idOf(source.kind, source)] : [])),
    ...snapshot.upstreams.flatMap((one) => (upstreams.includes(one.name) ? [idOf('Upstream', one.ref)] : [])),
    ...(name ? [idOf('AuthConfig', { namespace, name })] : []),
    ...limitsBehind(explanation, snapshot).map((ref) => idOf('RateLimitConfig', ref)),
  ];
}

/** The RateLimitConfigs that the virtual host or the route of the request refers to. */
function limitsBehind({ virtualHost, routes }: Explained, snapshot: Snapshot): Partial<ResourceRef>[] {
  const hosts = snapshot.listeners.flatMap(({ virtualHosts }) => virtualHosts);
  const host = hosts.find(({ name }) => name === virtualHost?.name);
  const matched = routes.find((route) => route.matched);
  const route = host?.routes.find(({ name }) => name === matched?.name);
  return [host?.options, route?.options].flatMap((level) =>
    level ? LIMIT_REFS.flatMap((option) => level[option]?.refs ?? []) : [],
  );
}

const LIMIT_REFS = ['rateLimitConfigs', 'rateLimitEarlyConfigs', 'rateLimitRegularConfigs'] as const;

/** The resources that contain routes of the virtual host. */
function sourcesOf({ virtualHost }: Explained, snapshot: Snapshot): string[] {
  const hosts = snapshot.listeners.flatMap(({ virtualHosts }) => virtualHosts);
  const routes = hosts.filter(({ name }) => name === virtualHost?.name).flatMap((host) => host.routes);
  return routes.map(({ source }) => idOf(source.kind, source));
}

const idOf = (kind: string | undefined, { namespace, name }: Partial<ResourceRef>): string =>
  `${kind}/${namespace}/${name}`;
