import type { ClusterService, ClusterServicePort } from '../../contract/cluster-services.ts';
import type { Endpoint } from '../../contract/snapshot.ts';
import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type Resource, type ResourceRef } from '../../resource/resource.ts';
import type { StoredResource, StoreState } from '../../resource/stored.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { KubeUpstream } from '../../schema/upstream/upstream-types.ts';
import { dotted } from '../names.ts';

/** Begins the names of upstreams of Services that exist only in memory. */
export const SERVICE_PREFIX = 'kube-svc:';

/** Returns the upstream of a port of a Service. */
export function serviceUpstreamRef({ name, namespace }: ResourceRef, port: number): ResourceRef {
  return { name: `${SERVICE_PREFIX}${namespace}-${name}-${port}`, namespace };
}

/** Returns the Service of an upstream. */
export function serviceOf(
  { kube }: UpstreamSpec,
  namespace: string,
  services: StoreState['services'],
): ClusterService | undefined {
  if (!kube || !services) return undefined;
  const { name, namespace: own } = serviceRef(kube, namespace);
  return services.get(`${own}/${name}`);
}

function serviceRef({ serviceName, serviceNamespace }: KubeUpstream, namespace: string): ResourceRef {
  return { name: serviceName ?? '', namespace: serviceNamespace || namespace };
}

/** A problem of an upstream, with the path of its field. */
interface ServiceProblem {
  readonly message: string;
  readonly path: FieldPath;
}

/** Returns why an upstream of a Service cannot be served. */
export function serviceProblem(
  kube: KubeUpstream,
  namespace: string,
  service: ClusterService | undefined,
): ServiceProblem | undefined {
  const ref = serviceRef(kube, namespace);
  if (!service) return { message: `Service ${dotted(ref)} not found`, path: ['spec', 'kube', 'serviceName'] };
  const message = portProblem(service, kube.servicePort ?? 0);
  return message === undefined ? undefined : { message, path: ['spec', 'kube', 'servicePort'] };
}

/** Returns the message about a port that a Service does not have. */
export function portProblem({ ref, ports }: ClusterService, port: number): string | undefined {
  if (ports.some((each) => each.port === port)) return undefined;
  const known = ports.length > 0 ? `its ports: ${ports.map((each) => each.port).join(', ')}` : 'it has none';
  return `Service ${dotted(ref)} has no TCP port ${port} (${known})`;
}

/** Returns why the upstream of a port does not exist. */
export function missingServiceReason({ name, namespace }: ResourceRef, services: StoreState['services']): string {
  if (!services) return 'Services are only known to a control plane with --kubernetes';
  const [, service = '', port = ''] = /^(.*)-(\d+)$/.exec(name.slice(`${SERVICE_PREFIX}${namespace}-`.length)) ?? [];
  const known = services.get(`${namespace}/${service}`);
  return (known && portProblem(known, Number(port))) ?? `Service ${dotted({ name: service, namespace })} not found`;
}

const NONE: readonly Endpoint[] = Object.freeze([]);

/** Returns the endpoints of an upstream of a Service. Labels besides those of the Service select some of its pods. */
export function serviceEndpoints(kube: KubeUpstream, service: ClusterService | undefined): readonly Endpoint[] {
  const endpoints = service?.ports.find(({ port }) => port === kube.servicePort)?.endpoints ?? NONE;
  const labels = Object.entries(kube.selector ?? {}).filter(([name, value]) => service?.selector[name] !== value);
  if (labels.length === 0) return endpoints;
  return Object.freeze(endpoints.filter(({ metadata }) => labels.every(([name, value]) => metadata?.[name] === value)));
}

/** Returns the resources that the ports of a Service would be. */
export function serviceResources(service: ClusterService): readonly StoredResource[] {
  return service.ports.map((port) => storedPort(service, port));
}

function storedPort({ ref }: ClusterService, { port, upstream, fault }: ClusterServicePort): StoredResource {
  const metadata = Object.freeze(serviceUpstreamRef(ref, port));
  const key = keyOf('Upstream', metadata);
  const origin = Object.freeze({ file: `Service/${ref.namespace}/${ref.name}`, line: 1, column: 1 });
  const head = { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata } as const;
  const resource: Resource | undefined = upstream && Object.freeze({ ...head, spec: upstream, origin });
  const issues = fault === undefined ? [] : [issueOf(fault, origin)];
  return Object.freeze({ key, resource, stale: false, issues });
}

function issueOf(message: string, origin: Resource['origin']): StoredResource['issues'][number] {
  return { code: 'STATUS', severity: 'error', origin, path: [], message };
}
