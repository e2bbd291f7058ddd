import { gatewayNamespace } from '../../resource/gateway-namespace.ts';
import type { ResourceRef } from '../../resource/resource.ts';
import type { DestinationSpec } from '../../schema/route/destination.ts';
import { serviceUpstreamRef } from './kube-upstreams.ts';

/** Returns the upstream of a destination; those of Kubernetes and Consul services exist only in memory. */
export function upstreamOf({ upstream, kube, consul }: DestinationSpec, namespace: string): ResourceRef {
  if (kube) {
    const { name = '', namespace: own } = kube.ref ?? {};
    return serviceUpstreamRef({ name, namespace: own || namespace }, kube.port ?? 0);
  }
  if (consul) return { name: `consul-svc:${consul.serviceName ?? ''}`, namespace: gatewayNamespace() };
  return { name: upstream?.name ?? '', namespace: upstream?.namespace || namespace };
}
