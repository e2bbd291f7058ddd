import { parseDocuments, validateWritten, formatPath } from '@edge-gateway/core';
import type { UpstreamSpec } from '@edge-gateway/core/schema';
import type { Service, ServicePort } from './cluster-objects.ts';
import { ANNOTATIONS, InvalidAnnotation, sslConfigOf, usesHttp2 } from './port-annotations.ts';
import { upstreamName } from './upstream-name.ts';
import { withUpstreamConfig } from './upstream-config.ts';

/** The upstream of a port of a Service, or why it cannot be made. */
export type PortUpstream = { readonly spec: UpstreamSpec } | { readonly fault: string };

/** The apiVersion of upstreams. */
export const UPSTREAM_API = 'gw.vendor.io/v1';

/** Returns the ports of a Service that get an upstream: TCP, each number once, sorted. */
export function discoveredPorts({ ports }: Service): readonly ServicePort[] {
  const byNumber = new Map<number, ServicePort>();
  for (const port of ports) if (port.protocol === 'TCP' && !byNumber.has(port.port)) byNumber.set(port.port, port);
  return [...byNumber.values()].sort((a, b) => a.port - b.port);
}

/**
 * Returns the spec of the upstream of a port. `defaults` are annotations (Settings `upstreamOptions.globalAnnotations`) that those of
 * the Service override. Pure. A port with an annotation that is not valid has a fault instead: it must not lose its TLS, for example.
 *
 * @example
 * portUpstream(service, service.ports[0]!); // { spec: { kube: { serviceName: 'petstore', … } } }
 */
export function portUpstream(
  service: Service,
  port: ServicePort,
  defaults: Service['annotations'] = NO_ANNOTATIONS,
): PortUpstream {
  const annotations = defaults === NO_ANNOTATIONS ? service.annotations : { ...defaults, ...service.annotations };
  try {
    const spec = withUpstreamConfig(plainSpec(service, port, annotations), service, annotations);
    return validated(service, port, spec, annotations[ANNOTATIONS.config] !== undefined);
  } catch (error) {
    if (error instanceof InvalidAnnotation) return { fault: error.message };
    throw error;
  }
}

const NO_ANNOTATIONS: Service['annotations'] = {};

function plainSpec(service: Service, port: ServicePort, annotations: Service['annotations']): UpstreamSpec {
  const { name, namespace, labels, selector } = service;
  const useHttp2 = usesHttp2(port, annotations);
  const sslConfig = sslConfigOf(port, service, annotations);
  return {
    ...(Object.keys(labels).length > 0 && { discoveryMetadata: { labels } }),
    kube: {
      serviceName: name,
      serviceNamespace: namespace,
      servicePort: port.port,
      ...(Object.keys(selector).length > 0 && { selector }),
    },
    ...(useHttp2 !== undefined && { useHttp2 }),
    ...(sslConfig && { sslConfig }),
  };
}

/** Validates specs with fields from an annotation; others are valid by construction. */
function validated(service: Service, { port }: ServicePort, spec: UpstreamSpec, isConfigured: boolean): PortUpstream {
  if (!isConfigured) return { spec };
  const metadata = { name: upstreamName(service, port), namespace: service.namespace };
  const text = JSON.stringify({ apiVersion: UPSTREAM_API, kind: 'Upstream', metadata, spec });
  const { resource, issues } = validateWritten(parseDocuments(text, 'upstream.json')[0]!);
  const error = issues.find(({ severity }) => severity === 'error');
  if (resource && !error) return { spec: resource.spec as UpstreamSpec };
  const where = error ? `${formatPath(error.path).replace(/^spec\./, '')}: ${error.message}` : 'is not valid';
  return { fault: `annotation ${ANNOTATIONS.config}: ${where}` };
}
