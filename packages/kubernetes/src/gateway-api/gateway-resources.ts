import { digestText, gatewayApiAnnotations, GATEWAY_API_LABELS as LABELS } from '@edge-gateway/core';
import type { GatewaySpec as OwnGatewaySpec, VirtualServiceSpec } from '@edge-gateway/core/schema';
import type { Http2Upstream } from './backends.ts';
import type { CheckedListener } from './gateway-listeners.ts';
import type { GatewayObject, GatewaySpec } from './gateway-objects.ts';
import { hostOptionsOf, type HostPlan } from './host-plans.ts';
import type { OptionTargets } from './option-targets.ts';
import type { OrderedRoute } from './route-rules.ts';
import type { GeneratedResource } from './translation.ts';

/** Returns the proxy that serves a Gateway. A namespace contains no dot, so no other Gateway has the same. */
export function proxyOf({ metadata }: GatewayObject<unknown>): string {
  return `${metadata.namespace}.${metadata.name}`;
}

interface ResourceContext {
  readonly hosts: Iterable<HostPlan>;
  readonly targets: OptionTargets;
  readonly writeNamespace: string;
}

/** Returns a Gateway of ours for each port, with a virtual service for each of its host names. */
export function resourcesOf(
  gateway: GatewayObject<GatewaySpec>,
  listeners: readonly CheckedListener[],
  { hosts, targets, writeNamespace: namespace }: ResourceContext,
): GeneratedResource[] {
  const resources: GeneratedResource[] = [];
  const prefix = `gateway-api.${gateway.metadata.namespace}.${gateway.metadata.name}`;
  const served = listeners.filter(({ isServed }) => isServed);
  const plansOfPort = Map.groupBy(hosts, ({ listener }) => listener.spec.port);
  for (const [port, own] of Map.groupBy(served, ({ spec }) => spec.port)) {
    const labels = { ...LABELS, [LISTENER_LABEL]: digestOf(`${prefix}.${port}`) };
    // Without any host the port would not be opened.
    const empty = { listener: own[0]!, hostname: (own[0]!.spec.hostname || '*').toLowerCase(), routes: [] };
    for (const host of plansOfPort.get(port) ?? [empty]) {
      const metadata = { name: `${prefix}.${port}.${digestOf(host.hostname)}`, namespace, labels };
      const spec = virtualServiceOf(host, { prefix, namespace, targets });
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
    const annotations = gatewayApiAnnotations({
      namespace: gateway.metadata.namespace ?? '',
      name: gateway.metadata.name,
      listeners: own.map((each) => each.spec.name),
    });
    const metadata = { name: `${prefix}.${port}`, namespace, labels: LABELS, annotations };
    resources.push({ apiVersion: 'gateway.vendor.io/v1', kind: 'Gateway', metadata, spec });
  }
  for (const { certificate, spec } of served) {
    if (!certificate) continue;
    const metadata = { name: secretName(prefix, spec.name), namespace, labels: LABELS };
    resources.push({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata,
      data: certificate.secret.data,
    });
  }
  return resources;
}

/** Returns the upstream resource of a backend of GRPCRoutes. */
export function upstreamOf({ name, spec }: Http2Upstream, namespace: string): GeneratedResource {
  return { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name, namespace, labels: LABELS }, spec };
}

/** The label by which a Gateway of ours selects its virtual services. */
const LISTENER_LABEL = 'gateway-api-listener';

function secretName(prefix: string, listener: string): string {
  return `${prefix}.certificate.${listener}`;
}

function digestOf(text: string): string {
  return digestText(text).slice(0, 16);
}

interface HostContext {
  readonly prefix: string;
  readonly namespace: string;
  readonly targets: OptionTargets;
}

function virtualServiceOf(
  { listener, hostname, routes }: HostPlan,
  { prefix, namespace, targets }: HostContext,
): VirtualServiceSpec {
  const own = listener.gateway.metadata.namespace ?? '';
  const options = hostOptionsOf(listener, targets);
  const sniDomain = listener.spec.hostname;
  return {
    displayName: hostname,
    virtualHost: {
      domains: [hostname],
      routes: orderedRoutes(routes),
      ...(options.length > 0 && {
        optionsConfigRefs: { delegateOptions: options.map((name) => ({ name, namespace: own })) },
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
