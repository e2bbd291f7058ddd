import type { UpstreamSslConfig } from '@edge-gateway/core/schema';
import { ANNOTATION_PREFIX, type Service, type ServicePort } from './cluster-objects.ts';

/** An annotation of a Service that cannot be applied. */
export class InvalidAnnotation extends Error {
  constructor(annotation: string, problem: string) {
    super(`annotation ${annotation}: ${problem}`);
  }
}

/** Annotations that configure the upstreams of a Service. */
export const ANNOTATIONS = {
  discover: `${ANNOTATION_PREFIX}discover`,
  http2: `${ANNOTATION_PREFIX}h2_service`,
  tlsSecret: `${ANNOTATION_PREFIX}sslService.secret`,
  tlsCert: `${ANNOTATION_PREFIX}sslService.tlsCert`,
  tlsKey: `${ANNOTATION_PREFIX}sslService.tlsKey`,
  rootCa: `${ANNOTATION_PREFIX}sslService.rootCa`,
  config: `${ANNOTATION_PREFIX}upstream_config`,
  deepMerge: `${ANNOTATION_PREFIX}upstream_config.deep_merge`,
} as const;

type Annotations = Service['annotations'];

/** Names of ports of HTTP/2 services begin with one of these. */
const HTTP2_NAMES = ['grpc', 'h2', 'http2'] as const;
/** Values of `appProtocol` of HTTP/2 services without TLS. */
const HTTP2_PROTOCOLS: ReadonlySet<string> = new Set(['kubernetes.io/h2c', 'h2c', 'http2', 'grpc']);

/** Returns whether requests to a port use HTTP/2; `undefined` if neither the annotation nor the port says so. */
export function usesHttp2({ name, appProtocol }: ServicePort, annotations: Annotations): boolean | undefined {
  const written = annotations[ANNOTATIONS.http2];
  if (written === 'true') return true;
  if (written === 'false') return false;
  if (written !== undefined)
    throw new InvalidAnnotation(ANNOTATIONS.http2, `must be 'true' or 'false', is '${written}'`);
  const lower = name.toLowerCase();
  if (HTTP2_NAMES.some((prefix) => lower.startsWith(prefix))) return true;
  return HTTP2_PROTOCOLS.has(appProtocol) ? true : undefined;
}

/**
 * Returns the TLS of a port by the annotations of its Service, whose values are `<value>` or `<port>:<value>`. Throws
 * {@link InvalidAnnotation} if they are incomplete: requests must not be sent without TLS instead.
 */
export function sslConfigOf(
  { port }: ServicePort,
  service: Service,
  annotations: Annotations,
): UpstreamSslConfig | undefined {
  const valueOf = (annotation: string): string | undefined => portValue(annotation, annotations, port);
  const [secret, tlsCert, tlsKey, rootCa] = [
    valueOf(ANNOTATIONS.tlsSecret),
    valueOf(ANNOTATIONS.tlsCert),
    valueOf(ANNOTATIONS.tlsKey),
    valueOf(ANNOTATIONS.rootCa),
  ];
  const hasFiles = [tlsCert, tlsKey, rootCa].some((file) => file !== undefined);
  if (secret !== undefined) {
    if (hasFiles) throw new InvalidAnnotation(ANNOTATIONS.tlsSecret, 'must not be combined with certificate files');
    return { secretRef: { name: secret, namespace: service.namespace } };
  }
  if (!hasFiles) return undefined;
  if (tlsCert !== undefined && tlsKey === undefined)
    throw new InvalidAnnotation(ANNOTATIONS.tlsCert, `needs ${ANNOTATIONS.tlsKey} too`);
  if (tlsKey !== undefined && tlsCert === undefined)
    throw new InvalidAnnotation(ANNOTATIONS.tlsKey, `needs ${ANNOTATIONS.tlsCert} too`);
  return {
    sslFiles: {
      ...(tlsCert !== undefined && { tlsCert, tlsKey }),
      ...(rootCa !== undefined && { rootCa }),
    },
  };
}

/** Returns the value for a port; `undefined` if there is none, or only one for another port. */
function portValue(annotation: string, annotations: Annotations, port: number): string | undefined {
  const written = annotations[annotation];
  if (written === undefined) return undefined;
  const [, only, value] = /^(\d+):(.*)$/s.exec(written) ?? [undefined, undefined, written];
  if (only !== undefined && Number(only) !== port) return undefined;
  if (!value) throw new InvalidAnnotation(annotation, `has no value; write <value> or <port>:<value>`);
  return value;
}

/** Returns the annotations whose values are for a port that the Service does not have. */
export function unusedAnnotations({ ports }: Service, annotations: Annotations): string[] {
  const names = [ANNOTATIONS.tlsSecret, ANNOTATIONS.tlsCert, ANNOTATIONS.tlsKey, ANNOTATIONS.rootCa];
  return names.flatMap((name) => {
    const [, only] = /^(\d+):/.exec(annotations[name] ?? '') ?? [];
    const isUsed = only === undefined || ports.some(({ port }) => port === Number(only));
    return isUsed ? [] : [`annotation ${name}: the Service has no port ${only}`];
  });
}
