import type { FieldPath } from '../parse/issue.ts';
import type { ResourceRef } from '../resource.ts';
import type { DestinationSpec, WeightedDestination } from '../schema/destination.ts';
import type { Ref } from '../schema/field.ts';
import type { ForwardAction } from '../schema/route.ts';
import type { UpstreamGroupSpec } from '../schema/upstream-group.ts';
import { clusterName } from '../resource.ts';
import type { Destination, RouteAction } from '../snapshot.ts';
import type { Leaf } from './delegation.ts';
import { findGraphQLApi } from './graphql-apis.ts';
import { routeMessage } from './messages.ts';
import { dotted } from './names.ts';
import { withNamespaces } from './option-refs.ts';
import { brokenShare, replacement } from './replacement.ts';
import type { Reader } from './world.ts';

/** Status that a direct response has when none is written. */
const DIRECT_STATUS = 200;
const NO_OPTIONS = Object.freeze({});
const GRAPHQL: FieldPath = ['graphqlApiRef'];
const SINGLE: FieldPath = ['routeAction', 'single'];
const MULTI: FieldPath = ['routeAction', 'multi', 'destinations'];
const GROUP: FieldPath = ['routeAction', 'upstreamGroup'];

/** What a leaf does with a request. Broken references become the replacement, and warnings of whoever holds the route. */
export function routeAction(leaf: Leaf, reader: Reader): RouteAction {
  const { routeAction, redirectAction, directResponseAction, graphqlApiRef } = leaf.spec;
  if (redirectAction) return Object.freeze({ type: 'redirect', redirect: redirectAction });
  if (directResponseAction) {
    const { status = DIRECT_STATUS, body = '' } = directResponseAction;
    return Object.freeze({ type: 'direct', status, body });
  }
  if (graphqlApiRef) return graphqlAction(graphqlApiRef, leaf, reader);
  return forwardAction(routeAction ?? {}, leaf, reader);
}

function graphqlAction(written: Ref, leaf: Leaf, reader: Reader): RouteAction {
  const { namespace } = leaf.holder.ref;
  const found = findGraphQLApi(written, namespace, reader);
  if ('broken' in found) {
    warn(leaf, found.broken, GRAPHQL);
    return replacement(reader.world.settings.invalidRoutes, found.broken);
  }
  for (const warning of found.warnings) warn(leaf, warning, GRAPHQL);
  return Object.freeze({ type: 'graphql', api: found.api.ref });
}

function forwardAction(action: ForwardAction, leaf: Leaf, reader: Reader): RouteAction {
  const { invalidRoutes } = reader.world.settings;
  const { namespace } = leaf.holder.ref;
  if (action.single) {
    const context = { namespace, leaf, reader, at: SINGLE };
    const destination = destinationOf({ destination: action.single, weight: 1 }, context);
    return destination.broken ? replacement(invalidRoutes, destination.broken.reason) : forward([destination]);
  }
  if (action.multi) return weighted(action.multi.destinations ?? [], { namespace, leaf, reader, at: MULTI });
  if (action.upstreamGroup) return group(action.upstreamGroup, leaf, reader);
  return replacement(invalidRoutes, 'this way of choosing a destination is not served yet');
}

function group(written: Ref, leaf: Leaf, reader: Reader): RouteAction {
  const ref = { name: written.name ?? '', namespace: written.namespace || leaf.holder.ref.namespace };
  const found = reader.find<UpstreamGroupSpec>('UpstreamGroup', ref);
  if (found.state === 'usable') {
    const stale = `*v1.UpstreamGroup { ${dotted(ref)} } serves its last valid version: ${found.stale}`;
    if (found.stale) warn(leaf, stale, GROUP);
    return weighted(found.resource.spec.destinations ?? [], { namespace: ref.namespace, leaf, reader, at: GROUP });
  }
  const why = found.state === 'missing' ? 'not found' : `is refused: ${found.cause}`;
  const reason = `*v1.UpstreamGroup { ${dotted(ref)} } ${why}`;
  warn(leaf, reason, GROUP);
  return replacement(reader.world.settings.invalidRoutes, reason);
}

interface DestinationContext {
  /** Namespace of upstreams that name none. */
  readonly namespace: string;
  readonly leaf: Leaf;
  readonly reader: Reader;
  /** In the route: of the one destination, of the list of them, or of the reference to a group. */
  readonly at: FieldPath;
}

function weighted(written: readonly WeightedDestination[], context: DestinationContext): RouteAction {
  const destinations = written.map((one, i) =>
    destinationOf(one, context.at === MULTI ? { ...context, at: [...MULTI, i, 'destination'] } : context),
  );
  const usable = destinations.some(({ broken, weight }) => !broken && weight > 0);
  const [first] = destinations;
  if (!usable && first?.broken) return replacement(context.reader.world.settings.invalidRoutes, first.broken.reason);
  return forward(destinations);
}

function forward(destinations: readonly Destination[]): RouteAction {
  return Object.freeze({ type: 'forward', destinations: Object.freeze(destinations) });
}

function destinationOf(
  { destination, weight = 0, options }: WeightedDestination,
  context: DestinationContext,
): Destination {
  const { leaf, reader } = context;
  const at = destination?.upstream && context.at !== GROUP ? [...context.at, 'upstream'] : context.at;
  const ref = upstreamOf(destination ?? {}, context.namespace);
  const share = {
    upstream: clusterName(ref),
    weight,
    options: options ? withNamespaces(options, context.namespace) : NO_OPTIONS,
  };
  const { broken, warning } = reader.upstream(ref);
  if (broken) {
    warn(leaf, broken, at);
    return Object.freeze({ ...share, broken: brokenShare(reader.world.settings.invalidRoutes, broken) });
  }
  if (warning) warn(leaf, warning, at);
  return Object.freeze(share);
}

/** Kubernetes services and Consul services stand for upstreams that discovery makes in memory. */
function upstreamOf({ upstream, kube, consul }: DestinationSpec, namespace: string): ResourceRef {
  if (kube) {
    const { name = '', namespace: own = namespace } = kube.ref ?? {};
    return { name: `kube-svc:${own}-${name}-${kube.port ?? 0}`, namespace: own };
  }
  if (consul) return { name: `consul-svc:${consul.serviceName ?? ''}`, namespace: 'gw-system' };
  return { name: upstream?.name ?? '', namespace: upstream?.namespace || namespace };
}

function warn(leaf: Leaf, reason: string, at: FieldPath): void {
  const { holder, label } = leaf;
  holder.report.warn(routeMessage('InvalidDestinationWarning', reason, label), [...leaf.at, ...at]);
}
