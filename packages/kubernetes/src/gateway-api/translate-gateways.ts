import { createHash } from 'node:crypto';
import { GATEWAY_API_LABELS as LABELS } from '@edge-gateway/core';
import type { GatewaySpec as OwnGatewaySpec, VirtualServiceSpec } from '@edge-gateway/core/schema';
import { objectKey } from '../watch/cluster-object.ts';
import { condition, type NewCondition } from './conditions.ts';
import { checkListeners, type CheckedListener } from './gateway-listeners.ts';
import {
  GATEWAY_GROUP,
  type GatewayApiInput,
  type GatewayClassSpec,
  type GatewayObject,
  type GatewaySpec,
  type OptionResource,
  type ParentReference,
  type RouteKind,
  type RouteObject,
} from './gateway-objects.ts';
import type { Http2Upstream, RefProblem } from './backends.ts';
import { attachRoute, isGatewayReference, type Attachment } from './route-attachment.ts';
import { isWithin, specificity } from './hostnames.ts';
import { translateRules, type OrderedRoute } from './route-rules.ts';
import { CONTROLLER_NAME, isOwnClass, ownGateways } from './own-gateways.ts';
import { SUPPORTED_FEATURES } from './supported-features.ts';

/** A resource of ours that the translation makes. */
export interface GeneratedResource {
  readonly apiVersion: string;
  readonly kind: 'Gateway' | 'VirtualService' | 'Upstream' | 'Secret';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** A status of a Gateway API object, with conditions without times. */
export interface NewStatus {
  readonly kind: 'GatewayClass' | 'Gateway' | RouteKind;
  readonly object: GatewayObject<unknown>;
  readonly status: Readonly<Record<string, unknown>>;
}

export interface GatewayApiTranslation {
  readonly resources: readonly GeneratedResource[];
  readonly statuses: readonly NewStatus[];
}

export interface TranslateGatewaysOptions {
  /** Namespace of the resources. */
  readonly writeNamespace: string;
}

/** Returns the proxy that serves a Gateway. Two Gateways may have the same: `a-b/c` and `a/b-c`. */
export function proxyOf({ metadata }: GatewayObject<unknown>): string {
  return `${metadata.namespace}-${metadata.name}`;
}

/** Returns the value of a key, which is the given one if there was none. */
function getOrAdd<K, V>(map: Map<K, V>, key: K, value: V): V {
  const found = map.get(key) ?? value;
  map.set(key, found);
  return found;
}

/** A route with what it contributes to listeners. */
interface PlacedRoute {
  readonly route: RouteObject;
  readonly kind: RouteKind;
  readonly attachments: readonly Attachment[];
}

/** Translates all Gateway API objects into resources of ours, and into their statuses. Pure; the order of the input does not matter. */
export function translateGateways(input: GatewayApiInput, options: TranslateGatewaysOptions): GatewayApiTranslation {
  const grants = [...input.grants];
  const statuses: NewStatus[] = [];
  const classes = [...input.classes];
  for (const each of classes)
    if (isOwnClass(each)) statuses.push({ kind: 'GatewayClass', object: each, status: classStatus(each) });
  const gateways = sorted(ownGateways(classes, input.gateways));
  const listeners = new Map(
    gateways.map((gateway) => [objectKey(gateway.metadata), checkListeners(gateway, input, grants)]),
  );
  const http2 = new Map<string, Http2Upstream>();
  const context = { input, grants, listeners, http2, options };
  const placed: PlacedRoute[] = [];
  const hosts = new Map<string, HostPlan>();
  for (const kind of ['HTTPRoute', 'GRPCRoute'] as const) {
    for (const route of sorted(input.routes[kind])) {
      const result = placeRoute(route, kind, { ...context, hosts });
      if (!result) continue;
      placed.push(result.placed);
      statuses.push(result.status);
    }
  }
  const resources: GeneratedResource[] = [];
  const proxies = new Map<string, GatewayObject<GatewaySpec>>();
  for (const gateway of gateways) {
    const own = listeners.get(objectKey(gateway.metadata))!;
    const owner = getOrAdd(proxies, proxyOf(gateway), gateway);
    if (owner === gateway) resources.push(...resourcesOf(gateway, own, { hosts, input, options }));
    const status = gatewayStatus(gateway, own, { placed, input, owner });
    statuses.push({ kind: 'Gateway', object: gateway, status });
  }
  const { writeNamespace: namespace } = options;
  for (const { name, spec } of http2.values())
    resources.push({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name, namespace, labels: LABELS },
      spec,
    });
  return { resources, statuses };
}

/** Sorted by age, then by namespace and name: older objects take precedence. */
function sorted<T extends GatewayObject<unknown>>(objects: Iterable<T>): T[] {
  const keyOf = ({ metadata }: T): string => `${metadata.creationTimestamp ?? ''} ${objectKey(metadata)}`;
  return [...objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function classStatus({ metadata, spec }: GatewayObject<GatewayClassSpec>): Record<string, unknown> {
  const problem = spec?.parametersRef && {
    reason: 'InvalidParameters',
    message: 'parametersRef is not supported',
  };
  return {
    conditions: [condition('Accepted', metadata.generation ?? 0, problem)],
    supportedFeatures: SUPPORTED_FEATURES.map((name) => ({ name })),
  };
}

/** The routes of one host name at one port of a Gateway. */
interface HostPlan {
  readonly listener: CheckedListener;
  readonly hostname: string;
  readonly routes: OrderedRoute[];
}

interface PlaceContext {
  readonly input: GatewayApiInput;
  readonly grants: Parameters<typeof checkListeners>[2];
  readonly listeners: ReadonlyMap<string, readonly CheckedListener[]>;
  readonly http2: Map<string, Http2Upstream>;
  readonly options: TranslateGatewaysOptions;
  readonly hosts: Map<string, HostPlan>;
}

/** Attaches a route to its parents, and adds its rules to their hosts; `undefined` if no parent is ours. */
function placeRoute(
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

function addRules(
  route: RouteObject,
  kind: RouteKind,
  attachments: readonly Attachment[],
  { input, grants, http2, options, hosts, listeners }: PlaceContext,
): { readonly fault: string | undefined; readonly problems: readonly RefProblem[] } {
  const { namespace = '', name } = route.metadata;
  const { writeNamespace } = options;
  const backends = { input, grants, kind, namespace, writeNamespace, http2 };
  const routeOptions = targeting(input.options, 'RouteOption', { kind, name, namespace });
  // A route without an attachment still has a status about its backends.
  const places = attachments.length > 0 ? attachments : [undefined];
  let result: { fault: string | undefined; problems: readonly RefProblem[] } = { fault: undefined, problems: [] };
  for (const place of places) {
    const listener = { port: place?.listener.spec.port ?? 80, isTls: place?.listener.isTls ?? false };
    const { routes, problems, fault } = translateRules(route, { backends, listener, routeOptions });
    result = { fault, problems };
    if (!place || fault !== undefined || !place.listener.isServed) continue;
    const { gateway, spec } = place.listener;
    const siblings = listeners.get(objectKey(gateway.metadata))!.filter((each) => each.spec.port === spec.port);
    for (const hostname of place.hostnames) {
      if (isServedElsewhere(hostname, place.listener, siblings)) continue;
      const key = `${objectKey(gateway.metadata)} ${spec.port} ${hostname}`;
      const host = hosts.get(key) ?? { listener: place.listener, hostname, routes: [] };
      host.routes.push(...routes);
      hosts.set(key, host);
    }
  }
  return result;
}

/** Requests for a host belong to the listener with the most specific host name, and to no other. */
function isServedElsewhere(hostname: string, listener: CheckedListener, siblings: readonly CheckedListener[]): boolean {
  const own = specificity((listener.spec.hostname || '*').toLowerCase());
  return siblings.some((other) => {
    const name = (other.spec.hostname || '*').toLowerCase();
    return other !== listener && isWithin(hostname, name) && specificity(name) > own;
  });
}

interface Target {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly sectionName?: string;
}

/** Returns the names of options that target an object. Those for a section of it come first. */
function targeting(options: Iterable<OptionResource>, kind: OptionResource['kind'], target: Target): string[] {
  const found = [...options].flatMap((option) => {
    if (option.kind !== kind || option.namespace !== target.namespace) return [];
    const refs = option.targetRefs.filter(
      ({ group = GATEWAY_GROUP, kind: of, name, sectionName }) =>
        group === GATEWAY_GROUP &&
        of === target.kind &&
        name === target.name &&
        (sectionName === undefined || sectionName === target.sectionName),
    );
    return refs.length > 0
      ? [{ name: option.name, isOfSection: refs.some(({ sectionName }) => sectionName !== undefined) }]
      : [];
  });
  return found
    .sort((a, b) => Number(b.isOfSection) - Number(a.isOfSection) || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

interface ResourceContext {
  readonly hosts: ReadonlyMap<string, HostPlan>;
  readonly input: GatewayApiInput;
  readonly options: TranslateGatewaysOptions;
}

/** Returns a Gateway of ours for each port, with a virtual service for each of its host names. */
function resourcesOf(
  gateway: GatewayObject<GatewaySpec>,
  listeners: readonly CheckedListener[],
  { hosts, input, options: { writeNamespace: namespace } }: ResourceContext,
): GeneratedResource[] {
  const resources: GeneratedResource[] = [];
  const prefix = `gateway-api.${gateway.metadata.namespace}.${gateway.metadata.name}`;
  const served = listeners.filter(({ isServed }) => isServed);
  for (const [port, own] of Map.groupBy(served, ({ spec }) => spec.port)) {
    const labels = { ...LABELS, [LISTENER_LABEL]: digestOf(`${prefix}.${port}`) };
    const plans = [...hosts.values()].filter(
      ({ listener }) => listener.gateway === gateway && listener.spec.port === port,
    );
    // Without any host the port would not be opened.
    if (plans.length === 0)
      plans.push({ listener: own[0]!, hostname: (own[0]!.spec.hostname || '*').toLowerCase(), routes: [] });
    for (const host of plans) {
      const metadata = { name: `${prefix}.${port}.${digestOf(host.hostname)}`, namespace, labels };
      const spec = virtualServiceOf(host, { prefix, namespace, input });
      resources.push({ apiVersion: 'gateway.vendor.io/v1', kind: 'VirtualService', metadata, spec });
    }
    const spec: OwnGatewaySpec = {
      bindAddress: '::',
      bindPort: port,
      ssl: own.some((each) => each.isTls),
      proxyNames: [proxyOf(gateway)],
      httpGateway: {
        virtualServiceSelector: labels,
        virtualServiceNamespaces: [namespace],
      },
      routeOptions: { ignorePortInHostMatching: true },
    };
    const metadata = { name: `${prefix}.${port}`, namespace, labels: LABELS };
    resources.push({ apiVersion: 'gateway.vendor.io/v1', kind: 'Gateway', metadata, spec });
  }
  for (const { certificate, spec } of served) {
    if (!certificate) continue;
    const metadata = { name: secretName(prefix, spec.name), namespace, labels: LABELS };
    resources.push({ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data: certificate.data });
  }
  return resources;
}

/** The label by which a Gateway of ours selects its virtual services. */
const LISTENER_LABEL = 'gateway-api-listener';

function secretName(prefix: string, listener: string): string {
  return `${prefix}.certificate.${listener}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

interface HostContext {
  readonly prefix: string;
  readonly namespace: string;
  readonly input: GatewayApiInput;
}

function virtualServiceOf(
  { listener, hostname, routes }: HostPlan,
  { prefix, namespace, input }: HostContext,
): VirtualServiceSpec {
  const { metadata } = listener.gateway;
  const target = {
    kind: 'Gateway',
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    sectionName: listener.spec.name,
  };
  const options = targeting(input.options, 'VirtualHostOption', target);
  const sniDomain = listener.spec.hostname;
  return {
    displayName: hostname,
    virtualHost: {
      domains: [hostname],
      routes: orderedRoutes(routes),
      ...(options.length > 0 && {
        optionsConfigRefs: { delegateOptions: options.map((name) => ({ name, namespace: target.namespace })) },
      }),
    },
    ...(listener.isTls && {
      sslConfig: {
        secretRef: { name: secretName(prefix, listener.spec.name), namespace },
        ...(sniDomain && { sniDomains: [sniDomain] }),
      },
    }),
  };
}

/** Returns the routes in the order in which they are matched; equal ones in the order of their objects. */
function orderedRoutes(routes: readonly OrderedRoute[]): OrderedRoute['route'][] {
  return routes
    .map((each, i) => ({ ...each, i }))
    .sort((a, b) => {
      const at = a.precedence.findIndex((value, k) => value !== b.precedence[k]);
      return at < 0 ? a.i - b.i : b.precedence[at]! - a.precedence[at]!;
    })
    .map(({ route }) => route);
}

interface StatusContext {
  readonly placed: readonly PlacedRoute[];
  readonly input: GatewayApiInput;
  /** The Gateway that the proxy serves. */
  readonly owner: GatewayObject<GatewaySpec>;
}

function gatewayStatus(
  gateway: GatewayObject<GatewaySpec>,
  listeners: readonly CheckedListener[],
  { placed, input, owner }: StatusContext,
): Record<string, unknown> {
  const { generation = 0 } = gateway.metadata;
  const unserved = listeners.filter(({ isServed }) => !isServed);
  const unusable = proxyProblem(gateway, owner) ?? addressProblem(gateway);
  const isPartly = unserved.length > 0 && unserved.length < listeners.length;
  const names = unserved.map(({ spec }) => spec.name).join(', ');
  const invalid = { reason: 'ListenersNotValid', message: `invalid listeners: ${names}` };
  const accepted = unusable ?? (unserved.length > 0 && !isPartly ? invalid : undefined);
  const addresses = addressesOf(gateway, input);
  const programmed = accepted
    ? { reason: 'Invalid', message: accepted.message }
    : addresses.length > 0
      ? undefined
      : {
          reason: 'AddressNotAssigned',
          message: `no Service with the label ${GATEWAY_NAME_LABEL}: ${gateway.metadata.name} has an address`,
        };
  return {
    ...(addresses.length > 0 && { addresses }),
    conditions: [
      condition('Accepted', generation, accepted, isPartly ? 'ListenersNotValid' : 'Accepted'),
      condition('Programmed', generation, programmed),
    ],
    listeners: listeners.map((listener) => ({
      name: listener.spec.name,
      supportedKinds: listener.kinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
      attachedRoutes: placed.filter(({ attachments }) => attachments.some((each) => each.listener === listener)).length,
      conditions: [
        ...listener.conditions,
        condition(
          'Programmed',
          generation,
          listener.isServed ? undefined : { reason: 'Invalid', message: 'the listener is not valid' },
        ),
      ],
    })),
  };
}

/** A Gateway of one namespace must not be served by the proxy of another. */
function proxyProblem(
  gateway: GatewayObject<GatewaySpec>,
  owner: GatewayObject<GatewaySpec>,
): { readonly reason: string; readonly message: string } | undefined {
  if (owner === gateway) return undefined;
  const message = `the proxy ${proxyOf(gateway)} serves the older Gateway ${objectKey(owner.metadata)}; choose another name`;
  return { reason: 'Invalid', message };
}

function addressProblem({
  spec,
}: GatewayObject<GatewaySpec>): { readonly reason: string; readonly message: string } | undefined {
  const other = spec?.addresses?.find(({ type = 'IPAddress' }) => type !== 'IPAddress' && type !== 'Hostname');
  return other && { reason: 'UnsupportedAddress', message: `addresses of type ${other.type} are not supported` };
}

/** The label of Services and other objects that belong to a Gateway. */
export const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name';

function addressesOf({ spec, metadata }: GatewayObject<GatewaySpec>, input: GatewayApiInput) {
  const wanted = (spec?.addresses ?? []).filter(({ value }) => value);
  if (wanted.length > 0) return wanted.map(({ type = 'IPAddress', value }) => ({ type, value }));
  const { name, namespace = '' } = metadata;
  return input
    .addressesOf({ name, namespace })
    .map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'IPAddress' : 'Hostname', value }));
}
