import type { ResourceRef, Snapshot } from '@edge-gateway/core';
import type { Explanation } from '@edge-gateway/routing';
import type { AccessExplanation } from './access.ts';
import { differsInPort, matchesDomain } from './port-in-host.ts';
import { items, type StatusObject } from '../resources/objects.ts';
import { firstLineOf, reportsOf } from '../resources/status.ts';

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

/** Matches the reason in a status when a delegating route has no route table. */
const LACKS_ROUTES =
  /route table \S+ not found(?!.* stays in use)|finds no route table|its routes are missing|neither a route table/;

/** Matches the reason in a status when a part of a resource keeps its last good version. */
const KEEPS = /keeps? its last good|last good .* stay in force/;

/** The resources that determine the response to an explained request. */
type Explained = Explanation & { readonly access?: AccessExplanation };

/**
 * Returns the rejected resources behind a response; if no virtual host or route matches the request, the rejected
 * virtual services and route tables, one of which may have been meant to match.
 */
export function rejectedBehind(
  explanation: Explained,
  snapshot: Snapshot,
  objects: readonly StatusObject[],
): RejectedResource[] {
  const behind = new Set(resourcesBehind(explanation, snapshot));
  const isTaken = explanation.routes.some(({ matched }) => matched);
  const wasAsked =
    explanation.listeners.some(({ chosen }) => chosen) && (explanation.otherDomains.length > 0 || !isTaken);
  return objects.flatMap((object) => {
    const { kind, metadata } = object;
    const rejection = reportsOf(object).find(({ state }) => state === 'Rejected');
    const serves = behind.has(idOf(kind, metadata));
    const isMeant = wasAsked && mayBeMeant(object, explanation);
    if (!rejection) {
      if (!serves) return [];
      const lacking = isTaken || kind !== 'VirtualService' ? [] : remarksOf(object, LACKS_ROUTES);
      return [
        ...remarksOf(object, KEEPS).map((one) => ({ ...one, keeps: true })),
        ...lacking.map((one) => ({ ...one, lacksRoutes: true })),
      ];
    }
    if (!serves && !isMeant) return [];
    const reason = firstLineOf(rejection.reason);
    return [{ kind, namespace: metadata.namespace, name: metadata.name, reason, serves }];
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

/** Returns the lines in the status of an accepted resource that match a pattern. */
function remarksOf(object: StatusObject, pattern: RegExp): RejectedResource[] {
  const { kind, metadata } = object;
  const lines = reportsOf(object).flatMap(({ reason }) => reason.split('\n'));
  const { namespace, name } = metadata;
  return lines
    .filter((line) => pattern.test(line))
    .map((line) => ({ kind, namespace, name, reason: line.trim(), serves: true }));
}

function resourcesBehind({ virtualHost, routes, access, outcome }: Explained, snapshot: Snapshot): string[] {
  const upstreams = outcome.type === 'forward' ? outcome.destinations.map(({ upstream }) => upstream) : [];
  const [namespace = '', name = ''] = access?.extauth?.authConfig.split('/') ?? [];
  return [
    ...(virtualHost ? [idOf('VirtualService', virtualHost.virtualService)] : []),
    ...routes.flatMap(({ matched, source }) => (matched ? [idOf(source.kind, source)] : [])),
    ...snapshot.upstreams.flatMap((one) => (upstreams.includes(one.name) ? [idOf('Upstream', one.ref)] : [])),
    ...(name ? [idOf('AuthConfig', { namespace, name })] : []),
  ];
}

const idOf = (kind: string, { namespace, name }: ResourceRef): string => `${kind}/${namespace}/${name}`;
