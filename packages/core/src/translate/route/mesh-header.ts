import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { WeightedDestinationOptions } from '../../schema/route/route-options.ts';

/** The header by which a Linkerd proxy finds the Service of a request. */
const HEADER = 'l5d-dst-override';

/**
 * Returns the options of a destination with the header for Linkerd if its upstream is a Service of Kubernetes. `namespace` is that of the upstream.
 */
export function withMeshHeader(
  options: WeightedDestinationOptions,
  { kube }: UpstreamSpec,
  namespace: string,
): WeightedDestinationOptions {
  if (!kube) return options;
  const { serviceName, serviceNamespace, servicePort } = kube;
  const value = `${serviceName}.${serviceNamespace || namespace}.svc.cluster.local:${servicePort}`;
  const { headerManipulation } = options;
  const added = Object.freeze({ header: Object.freeze({ key: HEADER, value }), append: false });
  const requestHeadersToAdd = Object.freeze([...(headerManipulation?.requestHeadersToAdd ?? []), added]);
  return Object.freeze({
    ...options,
    headerManipulation: Object.freeze({ ...headerManipulation, requestHeadersToAdd }),
  });
}
