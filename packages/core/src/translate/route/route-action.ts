import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { dynamicDestination } from './dynamic-destination.ts';
import { clusterName, identityOfKey, keyOf, type ResourceKey, type ResourceRef } from '../../resource/resource.ts';
import type { DestinationSpec, WeightedDestination } from '../../schema/route/destination.ts';
import type { Ref } from '../../schema/field.ts';
import type { ForwardAction } from '../../schema/route/route.ts';
import type { VirtualHostOptions } from '../../schema/route/route-options.ts';
import type { UpstreamGroupSpec } from '../../schema/kind/upstream-group.ts';
import type { Destination, RouteAction } from '../../contract/snapshot.ts';
import type { Leaf } from './delegation.ts';
import { findGraphQLApi, type KeyedFault } from '../reference/graphql-apis.ts';
import {
  accessOf,
  goodAction,
  type GoodAction,
  type IntendedAction,
  type LastGood,
} from '../virtual-host/last-good.ts';
import { routeMessage } from '../status/messages.ts';
import { faultOf } from '../reference/missing.ts';
import { dotted } from '../names.ts';
import { upstreamOf } from '../reference/destination-upstream.ts';
import { withMeshHeader } from './mesh-header.ts';
import { restCallOf } from './rest-calls.ts';
import { descriptorMapOf, transcoderRef } from '../reference/descriptor-sets.ts';
import { withNamespaces } from '../virtual-host/option-refs.ts';
import { GONE, replacement, withBroken, type Replacement } from './replacement.ts';
import type { Derived } from '../derived.ts';
import type { UpstreamEntry } from '../reference/tables.ts';
import type { Reader } from '../input.ts';

/** Default status of a direct response. */
const DIRECT_STATUS = 200;
const NO_OPTIONS = Object.freeze({});
const NO_DESTINATION: ReturnType<Reader['destination']> = NO_OPTIONS;
const NONE: readonly never[] = Object.freeze([]);
const GRAPHQL: FieldPath = ['graphqlApiRef'];
const SINGLE: FieldPath = ['routeAction', 'single'];
const MULTI: FieldPath = ['routeAction', 'multi', 'destinations'];
const GROUP: FieldPath = ['routeAction', 'upstreamGroup'];

/** The action of a route with the problems of its references. */
interface WrittenAction {
  /** The action as if every reference were valid; missing if a broken reference leaves no action. */
  readonly intended?: IntendedAction;
  /** Paths in the route. */
  readonly faults: readonly KeyedFault[];
  readonly warnings?: readonly FieldProblem[];
}

/**
 * Returns the action of a leaf route. Faults of references become warnings of the resource with the route:
 *
 * - A reference that was never valid is replaced; of weighted destinations only its share is.
 * - A reference whose target was deleted returns 503.
 * - If a change breaks a reference of a valid route, the route keeps its last good action. If the same change
 *   also alters access to the route, it returns 503: rules for one destination must not open another.
 */
export function routeAction(leaf: Leaf, { reader, lastGood, hostOptions }: RouteActionContext): RouteAction {
  const written = writtenAction(leaf, reader);
  const { actions } = lastGood;
  const { keys } = leaf;
  const good = actions.find(keys);
  const access = accessOf(hostOptions, leaf.options);
  const isNew = good !== undefined && written.faults.some(({ key }) => key === undefined || !good.refs.includes(key));
  const isKept = isNew && good.access === access;
  for (const warning of written.warnings ?? NONE) warn(leaf, warning);
  for (const fault of written.faults) {
    const outcome = isKept ? KEPT : isNew ? NOT_KEPT : '';
    warn(leaf, { ...fault, message: fault.message + outcome, ...(isKept && { effect: 'keeps-last-good' }) });
  }
  if (isKept) {
    actions.keep(keys, good);
    return keptAction(good, reader, lastGood);
  }
  const { intended, faults } = written;
  if (intended && !isNew && (good || faults.length === 0)) actions.keep(keys, goodAction(intended, access));
  else if (good) actions.keep(keys, good);
  const broken = good ? GONE : reader.input.settings.invalidRoutes;
  return intended ? withFaults(intended, broken, reader) : replacement(broken, faults[0]!.message);
}

const KEPT = '; the route keeps its last good destination';
const NOT_KEPT = '; the route responds with 503, because its access options changed as well';

/** The input of an action besides the route. */
export interface RouteActionContext {
  readonly reader: Reader;
  readonly lastGood: LastGood;
  /** Options of the virtual host. */
  readonly hostOptions: VirtualHostOptions;
}

/** Returns the last good action without deleted targets. */
function keptAction(good: GoodAction, reader: Reader, lastGood: LastGood): RouteAction {
  const { api } = good;
  if (!api) return withFaults(good, GONE, reader);
  if (reader.find('GraphQLApi', api.ref).state === 'missing')
    return replacement(GONE, `GraphQLApi ${dotted(api.ref)} not found`);
  lastGood.keptApis.set(dotted(api.ref), api);
  return good.action;
}

/** Returns the action with its broken shares replaced; the whole action if no share is left. */
function withFaults({ action, upstreams }: IntendedAction, answer: Replacement, reader: Reader): RouteAction {
  if (action.type !== 'forward') return action;
  const faults = upstreams.map((ref) => reader.destination(ref).fault);
  return faults.some(Boolean) ? withBroken(action, faults, answer) : action;
}

function writtenAction(leaf: Leaf, reader: Reader): WrittenAction {
  const { routeAction, redirectAction, directResponseAction, graphqlApiRef } = leaf.spec;
  if (redirectAction) return plain({ type: 'redirect', redirect: redirectAction });
  if (directResponseAction) {
    const { status = DIRECT_STATUS, body = '' } = directResponseAction;
    return plain({ type: 'direct', status, body });
  }
  if (graphqlApiRef) return graphqlAction(graphqlApiRef, leaf, reader);
  return forwardAction(routeAction ?? {}, leaf, reader);
}

function plain(action: RouteAction): WrittenAction {
  return { intended: { action: Object.freeze(action), refs: NONE, upstreams: NONE }, faults: NONE };
}

function graphqlAction(written: Ref, leaf: Leaf, reader: Reader): WrittenAction {
  const { api, refs, faults, warnings } = findGraphQLApi(written, leaf.holder.ref.namespace, reader);
  const action = api && Object.freeze({ type: 'graphql' as const, api: api.ref });
  return {
    ...(action && { intended: { action, refs, upstreams: NONE, api } }),
    faults: faults.map((fault) => ({ ...fault, path: GRAPHQL })),
    warnings: warnings.map((message) => ({ code: 'STATUS', path: GRAPHQL, message })),
  };
}

function forwardAction(action: ForwardAction, leaf: Leaf, reader: Reader): WrittenAction {
  const { namespace } = leaf.holder.ref;
  if (action.single) return forward([{ destination: action.single, weight: 1 }], { namespace, reader, at: SINGLE });
  if (action.multi) return forward(action.multi.destinations ?? [], { namespace, reader, at: MULTI });
  if (action.upstreamGroup) return group(action.upstreamGroup, leaf, reader);
  const dynamic = dynamicDestination(action);
  if (dynamic) return plain({ type: 'forward', destinations: Object.freeze([dynamic]) });
  return plain(replacement(reader.input.settings.invalidRoutes, 'this destination type is not supported yet'));
}

function group(written: Ref, leaf: Leaf, reader: Reader): WrittenAction {
  const ref = { name: written.name ?? '', namespace: written.namespace || leaf.holder.ref.namespace };
  const label = `UpstreamGroup ${dotted(ref)}`;
  const key = keyOf('UpstreamGroup', ref);
  const found = reader.find<UpstreamGroupSpec>('UpstreamGroup', ref);
  if (found.state === 'missing') {
    return { faults: [{ ...reader.missing(`${label} not found`, 'UpstreamGroup', ref), key, path: GROUP }] };
  }
  if (found.state === 'rejected') {
    return { faults: [{ ...faultOf(`${label} is rejected: ${found.cause}`), key, path: GROUP }] };
  }
  const context = { namespace: ref.namespace, reader, at: GROUP, group: key };
  const made = forward(found.resource.spec.destinations ?? [], context);
  if (!found.stale) return made;
  return {
    ...made,
    warnings: [
      { code: 'STATUS', path: GROUP, message: `${label} serves its last good version: ${found.stale}` },
      ...made.warnings!,
    ],
  };
}

interface DestinationContext {
  /** Default namespace of upstreams. */
  readonly namespace: string;
  readonly reader: Reader;
  /** Path in the route: of the destination, of the list of destinations, or of the reference to a group. */
  readonly at: FieldPath;
  readonly group?: ResourceKey;
}

function forward(written: readonly WeightedDestination[], context: DestinationContext): WrittenAction {
  const shared = context.at === SINGLE ? sharedForward(written[0]!, context) : undefined;
  if (shared) return shared;
  return ownForward(written, context);
}

/** Returns the action of a route to one upstream without settings of its own: the same for all such routes. */
function sharedForward({ destination }: WeightedDestination, { namespace, reader }: DestinationContext) {
  if (!destination?.upstream || Object.keys(destination).length > 1) return undefined;
  const ref = upstreamOf(destination, namespace);
  const { upstream, fault, warning } = reader.destination(ref);
  const entry = reader.input.upstreams.get(keyOf('Upstream', ref));
  if (!entry || !upstream || fault || warning || descriptorMapOf(upstream)) return undefined;
  return reader.input.derived.of(forwardTo, entry, reader.input.derived, reader.input.settings.linkerd);
}

function forwardTo(entry: UpstreamEntry, derived: Derived, linkerd: boolean): WrittenAction {
  const { kind: _, ...found } = identityOfKey(entry.stored.key);
  const ref = Object.freeze(found);
  const transcoder = derived.of(transcoderRef, entry.upstream!);
  const destination: Destination = Object.freeze({
    upstream: clusterName(ref),
    weight: 1,
    options: linkerd ? withMeshHeader(NO_OPTIONS, entry.upstream!.spec, ref.namespace) : NO_OPTIONS,
    ...(transcoder && { transcoder }),
  });
  const action = Object.freeze({ type: 'forward' as const, destinations: Object.freeze([destination]) });
  const refs = Object.freeze([entry.stored.key]);
  return { intended: Object.freeze({ action, refs, upstreams: Object.freeze([ref]) }), faults: NONE, warnings: NONE };
}

function ownForward(written: readonly WeightedDestination[], context: DestinationContext): WrittenAction {
  const { namespace, reader, at, group } = context;
  const faults: KeyedFault[] = [];
  const warnings: FieldProblem[] = [];
  const upstreams = written.map(({ destination }) => Object.freeze(upstreamOf(destination ?? {}, namespace)));
  const keys = upstreams.map((ref) => keyOf('Upstream', ref));
  for (const [i, ref] of upstreams.entries()) {
    const field = at === MULTI ? [...MULTI, i, 'destination'] : at;
    const member = memberOf(written[i]!.destination);
    const path = at !== GROUP && member !== undefined ? [...field, member] : field;
    const { fault, warning } = reader.destination(ref);
    if (fault) faults.push({ ...fault, key: keys[i]!, path });
    else if (warning) warnings.push({ code: 'STATUS', path, message: warning });
  }
  const destinations = written.map((one, i) => shareOf(one, upstreams[i]!, context));
  const action = Object.freeze({ type: 'forward' as const, destinations: Object.freeze(destinations) });
  const refs = Object.freeze(group ? [group, ...keys] : keys);
  return { intended: { action, refs, upstreams: Object.freeze(upstreams) }, faults, warnings };
}

function memberOf({ upstream, kube }: DestinationSpec = {}): string | undefined {
  if (upstream) return 'upstream';
  return kube ? 'kube' : undefined;
}

function shareOf(
  { weight = 0, options, destination }: WeightedDestination,
  ref: ResourceRef,
  context: DestinationContext,
): Destination {
  const { namespace, reader } = context;
  const written = options ? withNamespaces(options, namespace, reader.input.derived) : NO_OPTIONS;
  const { upstream } = reader.input.settings.linkerd ? reader.destination(ref) : NO_DESTINATION;
  const own = upstream ? withMeshHeader(written, upstream.spec, ref.namespace) : written;
  const subset = destination?.subset?.values;
  const labels = subset && Object.keys(subset).length > 0 && { subset: Object.freeze({ ...subset }) };
  const rest = destination && restCallOf(destination, ref, reader);
  const transcoder = transcoderOf(ref, reader);
  return Object.freeze({
    upstream: clusterName(ref),
    weight,
    options: own,
    ...labels,
    ...(rest && { rest }),
    ...(transcoder && { transcoder }),
  });
}

/** Returns the transcoder of an upstream: the same object for all of its routes. */
function transcoderOf(ref: ResourceRef, reader: Reader): Destination['transcoder'] {
  const { upstream } = reader.upstream(ref);
  if (!upstream) return undefined;
  const map = descriptorMapOf(upstream);
  if (map) reader.dependencies.keys.add(map);
  return reader.input.derived.of(transcoderRef, upstream);
}

function warn({ holder, label, at }: Leaf, fault: FieldProblem): void {
  const message = routeMessage('InvalidDestinationWarning', fault.message, label);
  holder.report.warn({ ...fault, message }, [...at, ...fault.path]);
}
