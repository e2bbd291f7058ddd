import type { ResourceRef, Snapshot } from '@edge-gateway/core';
import type { Explanation } from '@edge-gateway/routing';
import type { AccessExplanation } from './explain-access.ts';
import type { StatusObject } from './objects.ts';
import { reportsOf } from './status.ts';

/** A rejected resource that is relevant for an explanation. */
export interface RejectedResource extends ResourceRef {
  readonly kind: string;
  readonly reason: string;
  /** True if it is behind the response: its last good version is served. */
  readonly serves: boolean;
}

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
    const isMeant = wasAsked && (kind === 'VirtualService' || kind === 'RouteTable');
    if (!rejection || (!serves && !isMeant)) return [];
    const reason = rejection.reason.split('\n').find((line) => line.trim() !== '') ?? '';
    return [{ kind, namespace: metadata.namespace, name: metadata.name, reason: reason.trim(), serves }];
  });
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
