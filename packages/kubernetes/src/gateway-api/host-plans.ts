import { objectKey } from '../watch/cluster-object.ts';
import type { Http2Upstream, RefProblem } from './backends.ts';
import { condition, type NewCondition } from './conditions.ts';
import type { CheckedListener } from './gateway-listeners.ts';
import {
  GATEWAY_GROUP,
  type GatewayApiInput,
  type GatewayObject,
  type ParentReference,
  type ReferenceGrantSpec,
  type RouteKind,
  type RouteObject,
} from './gateway-objects.ts';
import { isWithin, specificity } from './hostnames.ts';
import type { OptionTargets } from './option-targets.ts';
import { CONTROLLER_NAME } from './own-gateways.ts';
import { attachRoute, isGatewayReference, type Attachment } from './route-attachment.ts';
import { translateRules, type FaultMemo, type OrderedRoute } from './route-rules.ts';
import type { NewStatus } from './translation.ts';

/** The routes of one host name at one port of a Gateway. */
export interface HostPlan {
  readonly listener: CheckedListener;
  readonly hostname: string;
  readonly routes: OrderedRoute[];
}

/** A route with what it contributes to listeners. */
export interface PlacedRoute {
  readonly route: RouteObject;
  readonly kind: RouteKind;
  readonly attachments: readonly Attachment[];
}

export interface PlaceContext {
  readonly input: GatewayApiInput;
  readonly grants: readonly GatewayObject<ReferenceGrantSpec>[];
  /** Listeners by the key of their Gateway. */
  readonly listeners: ReadonlyMap<string, readonly CheckedListener[]>;
  readonly targets: OptionTargets;
  readonly writeNamespace: string;
  readonly memo: FaultMemo;
  /** Receives the upstreams that the routes of hosts need. */
  readonly http2: Map<string, Http2Upstream>;
  /** Receives the routes. */
  readonly hosts: Map<string, HostPlan>;
}

/** Attaches a route to its parents, and adds its rules to their hosts; `undefined` if no parent is ours. */
export function placeRoute(
  route: RouteObject,
  kind: RouteKind,
  context: PlaceContext,
): { readonly placed: PlacedRoute; readonly status: NewStatus } | undefined {
  const { input, listeners } = context;
  const { generation = 0, namespace = '' } = route.metadata;
  const parents: Record<string, unknown>[] = [];
  const attachments: Attachment[] = [];
  for (const parentRef of route.spec?.parentRefs ?? []) {
    const own = isGatewayReference(parentRef) && listeners.get(`${parentRef.namespace || namespace}/${parentRef.name}`);
    if (!own) continue;
    const result = attachRoute(parentRef, { route, kind, listeners: own, namespaces: input.namespaces });
    const found = 'reason' in result ? [] : result.attachments;
    const { fault, problems } = addRules(route, kind, found, context);
    const accepted =
      'reason' in result ? result : fault === undefined ? undefined : { reason: 'UnsupportedValue', message: fault };
    if (!accepted) attachments.push(...found);
    parents.push({
      parentRef: shownReference(parentRef),
      controllerName: CONTROLLER_NAME,
      conditions: routeConditions(accepted, problems, generation),
    });
  }
  if (parents.length === 0) return undefined;
  return { placed: { route, kind, attachments }, status: { kind, object: route, status: { parents } } };
}

function routeConditions(
  accepted: { readonly reason: string; readonly message: string } | undefined,
  [problem]: readonly RefProblem[],
  generation: number,
): readonly NewCondition[] {
  return [condition('Accepted', generation, accepted), condition('ResolvedRefs', generation, problem)];
}

/** The API fills in defaults; a status repeats the reference as it is. */
function shownReference({ group = GATEWAY_GROUP, kind = 'Gateway', ...rest }: ParentReference): ParentReference {
  return { group, kind, ...rest };
}

interface AddedRules {
  readonly fault: string | undefined;
  readonly problems: readonly RefProblem[];
}

/** A route without an attachment still has a status about its backends. */
const NOWHERE = [undefined] as const;

function addRules(
  route: RouteObject,
  kind: RouteKind,
  attachments: readonly Attachment[],
  { input, grants, http2, writeNamespace, memo, hosts, listeners, targets }: PlaceContext,
): AddedRules {
  const { namespace = '', name } = route.metadata;
  const routeOptions = targets.of('RouteOption', { kind, name, namespace });
  let result: AddedRules = { fault: undefined, problems: [] };
  for (const place of attachments.length > 0 ? attachments : NOWHERE) {
    const listener = { port: place?.listener.spec.port ?? 80, isTls: place?.listener.isTls ?? false };
    const needed = new Map<string, Http2Upstream>();
    const backends = { input, grants, kind, namespace, writeNamespace, http2: needed };
    const { routes, problems, fault } = translateRules(route, { backends, listener, routeOptions, memo });
    const ofHost = place ? hostOptionProblems(place.listener, targets, input) : [];
    result = { fault, problems: [...problems, ...ofHost] };
    if (!place || fault !== undefined || !place.listener.isServed) continue;
    const { gateway, spec } = place.listener;
    const siblings = listeners.get(objectKey(gateway.metadata))!.filter((each) => each.spec.port === spec.port);
    for (const hostname of place.hostnames) {
      if (isServedElsewhere(hostname, place.listener, siblings)) continue;
      const key = `${objectKey(gateway.metadata)} ${spec.port} ${hostname}`;
      const host = hosts.get(key) ?? { listener: place.listener, hostname, routes: [] };
      host.routes.push(...routes);
      hosts.set(key, host);
      for (const [upstream, each] of needed) http2.set(upstream, each);
    }
  }
  return result;
}

/** Returns the names of the VirtualHostOptions that target the hosts of a listener. */
export function hostOptionsOf({ gateway, spec }: CheckedListener, targets: OptionTargets): readonly string[] {
  const { name, namespace = '' } = gateway.metadata;
  return targets.of('VirtualHostOption', { kind: 'Gateway', name, namespace, sectionName: spec.name });
}

/** Requests for the hosts of a listener are rejected if an option of theirs is invalid. */
function hostOptionProblems(listener: CheckedListener, targets: OptionTargets, input: GatewayApiInput): RefProblem[] {
  const { namespace = '' } = listener.gateway.metadata;
  return hostOptionsOf(listener, targets).flatMap((name) => {
    const problem = input.optionProblem('VirtualHostOption', { name, namespace });
    return problem ? [{ reason: 'InvalidOption', message: problem.message } as const] : [];
  });
}

/** Requests for a host belong to the listener with the most specific host name, and to no other. */
function isServedElsewhere(hostname: string, listener: CheckedListener, siblings: readonly CheckedListener[]): boolean {
  const own = specificity((listener.spec.hostname || '*').toLowerCase());
  return siblings.some((other) => {
    const name = (other.spec.hostname || '*').toLowerCase();
    return other !== listener && isWithin(hostname, name) && specificity(name) > own;
  });
}
