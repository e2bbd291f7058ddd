import { matchesSelector } from '@edge-gateway/core';
import type { CheckedListener } from './gateway-listeners.ts';
import {
  GATEWAY_GROUP,
  type GatewayApiInput,
  type ParentReference,
  type RouteKind,
  type RouteObject,
} from './gateway-objects.ts';
import { commonHostnames } from './hostnames.ts';

/** A route at a listener, with the host names that they have in common. */
export interface Attachment {
  readonly listener: CheckedListener;
  readonly hostnames: readonly string[];
}

/** Where a parent reference leads: to listeners, or why to none. */
export type AttachResult =
  | { readonly attachments: readonly Attachment[] }
  | {
      readonly reason: 'NoMatchingParent' | 'NotAllowedByListeners' | 'NoMatchingListenerHostname';
      readonly message: string;
    };

interface AttachInput {
  readonly route: RouteObject;
  readonly kind: RouteKind;
  /** The listeners of the Gateway that the reference names. */
  readonly listeners: readonly CheckedListener[];
  readonly namespaces: GatewayApiInput['namespaces'];
}

/** Attaches a route to the listeners of a Gateway that its reference selects, and that allow it. */
export function attachRoute(
  parent: ParentReference,
  { route, kind, listeners, namespaces }: AttachInput,
): AttachResult {
  const { sectionName, port } = parent;
  const selected = listeners.filter(
    ({ spec }) =>
      (sectionName === undefined || spec.name === sectionName) && (port === undefined || spec.port === port),
  );
  if (selected.length === 0) return { reason: 'NoMatchingParent', message: 'the Gateway has no such listener' };
  const allowed = selected.filter(
    (listener) => listener.kinds.includes(kind) && allowsNamespace(listener, route, namespaces),
  );
  if (allowed.length === 0)
    return { reason: 'NotAllowedByListeners', message: 'no listener allows routes of this kind or namespace' };
  const attachments = allowed.flatMap((listener) => {
    const hostnames = commonHostnames(listener.spec.hostname, route.spec?.hostnames);
    return hostnames.length > 0 ? [{ listener, hostnames }] : [];
  });
  if (attachments.length > 0) return { attachments };
  return { reason: 'NoMatchingListenerHostname', message: 'the route and the listeners have no hostname in common' };
}

function allowsNamespace(
  { spec, gateway }: CheckedListener,
  route: RouteObject,
  namespaces: AttachInput['namespaces'],
): boolean {
  const { from = 'Same', selector } = spec.allowedRoutes?.namespaces ?? {};
  const namespace = route.metadata.namespace ?? '';
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return namespace === gateway.metadata.namespace;
    case 'Selector': {
      // The labels of a namespace may not be known yet: `NotIn` would match it.
      const labels = namespaces.get(namespace);
      return selector !== undefined && labels !== undefined && matchesSelector(labels, selector);
    }
    default:
      return false;
  }
}

/** Returns whether a parent reference names a Gateway. */
export function isGatewayReference({ group = GATEWAY_GROUP, kind = 'Gateway' }: ParentReference): boolean {
  return group === GATEWAY_GROUP && kind === 'Gateway';
}
