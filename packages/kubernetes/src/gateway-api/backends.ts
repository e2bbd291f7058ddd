import type { DestinationSpec, UpstreamSpec, WeightedDestination } from '@edge-gateway/core/schema';
import type {
  BackendReference,
  GatewayApiInput,
  GatewayObject,
  ReferenceGrantSpec,
  RouteKind,
} from './gateway-objects.ts';
import { GATEWAY_GROUP } from './gateway-objects.ts';
import { isGranted } from './reference-grants.ts';

/** Why a reference of a route cannot be used, as the API names it. */
export interface RefProblem {
  readonly reason: 'RefNotPermitted' | 'InvalidKind' | 'BackendNotFound' | 'UnsupportedValue' | 'InvalidOption';
  readonly message: string;
}

/** An upstream that a GRPCRoute needs: that of a Service, over HTTP/2. */
export interface Http2Upstream {
  readonly name: string;
  readonly spec: UpstreamSpec;
}

export interface BackendContext {
  readonly input: GatewayApiInput;
  readonly grants: readonly GatewayObject<ReferenceGrantSpec>[];
  readonly kind: RouteKind;
  /** Namespace of the route. */
  readonly namespace: string;
  /** Namespace of generated resources. */
  readonly writeNamespace: string;
  /** Receives upstreams that have to exist. */
  readonly http2: Map<string, Http2Upstream>;
}

/** Returns the destination of a backend, or why there is none. */
export function destinationOf(ref: BackendReference, context: BackendContext): DestinationSpec | RefProblem {
  const { group = '', kind = 'Service', name, port } = ref;
  const namespace = ref.namespace || context.namespace;
  const from = { group: GATEWAY_GROUP, kind: context.kind, namespace: context.namespace };
  const label = `${kind} ${namespace}/${name}`;
  if (!isGranted(context.grants, from, { group, kind, namespace, name }))
    return { reason: 'RefNotPermitted', message: `no ReferenceGrant in namespace ${namespace} permits ${label}` };
  if (group === 'gw.vendor.io' && kind === 'Upstream') {
    if (context.input.hasUpstream({ name, namespace })) return { upstream: { name, namespace } };
    return { reason: 'BackendNotFound', message: `${label} not found` };
  }
  if (group !== '' || kind !== 'Service')
    return { reason: 'InvalidKind', message: `backends of kind ${group ? `${group}/` : ''}${kind} are not supported` };
  if (port === undefined) return { reason: 'UnsupportedValue', message: `the reference to ${label} has no port` };
  const ports = context.input.servicePorts({ name, namespace });
  if (!ports) return { reason: 'BackendNotFound', message: `${label} not found` };
  if (!ports.includes(port)) return { reason: 'BackendNotFound', message: `${label} has no port ${port}` };
  if (context.kind === 'HTTPRoute') return { kube: { ref: { name, namespace }, port } };
  return { upstream: http2Upstream({ name, namespace }, port, context) };
}

/** gRPC needs HTTP/2, whatever the port is called. */
function http2Upstream(
  service: { readonly name: string; readonly namespace: string },
  port: number,
  { http2, writeNamespace }: BackendContext,
): { name: string; namespace: string } {
  const name = `gateway-api.grpc.${service.namespace}.${service.name}.${port}`;
  const kube = { serviceName: service.name, serviceNamespace: service.namespace, servicePort: port };
  http2.set(name, { name, spec: { kube, useHttp2: true } });
  return { name, namespace: writeNamespace };
}

export const isRefProblem = (found: DestinationSpec | RefProblem): found is RefProblem => 'reason' in found;

/** The weighted destinations of a rule, and the problems of its backends. */
export interface Backends {
  readonly destinations: readonly WeightedDestination[];
  readonly problems: readonly RefProblem[];
  /** True if some requests have to be answered with 500. */
  readonly invalidWeight: number;
}

/** Returns the destinations of a rule. `optionsOf` returns those of the filters of a backend. */
export function backendsOf(
  refs: readonly BackendReference[],
  context: BackendContext,
  optionsOf: (ref: BackendReference) => WeightedDestination['options'] | undefined,
): Backends {
  const destinations: WeightedDestination[] = [];
  const problems: RefProblem[] = [];
  let invalidWeight = 0;
  for (const ref of refs) {
    const { weight = 1 } = ref;
    const destination = destinationOf(ref, context);
    if (isRefProblem(destination)) {
      problems.push(destination);
      invalidWeight += weight;
      continue;
    }
    const options = optionsOf(ref);
    destinations.push({ destination, weight, ...(options && { options }) });
  }
  return { destinations, problems, invalidWeight };
}
