import type { Kind } from '@edge-gateway/core';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Columns with a priority appear only with `-o wide`. */
  readonly priority?: number;
}

const text = (name: string, jsonPath: string, description: string): PrinterColumn => ({
  name,
  type: 'string',
  jsonPath,
  description,
});
const wide = (column: PrinterColumn): PrinterColumn => ({ ...column, priority: 1 });

const COLUMNS: Partial<Record<Kind, readonly PrinterColumn[]>> = {
  VirtualService: [
    text('Domains', '.spec.virtualHost.domains', 'Host names of the requests.'),
    wide(text('Display name', '.spec.displayName', 'Human-readable name.')),
  ],
  Gateway: [
    { name: 'Port', type: 'integer', jsonPath: '.spec.bindPort', description: 'Port that the proxies listen on.' },
    { name: 'SSL', type: 'boolean', jsonPath: '.spec.ssl', description: 'Whether the port serves TLS.' },
    wide(text('Proxies', '.spec.proxyNames', 'Proxies that serve the gateway.')),
  ],
  Upstream: [
    text('Service', '.spec.kube.serviceName', 'Kubernetes Service of the upstream.'),
    text('Host', '.spec.static.hosts[0].addr', 'First host of a static upstream.'),
    wide(text('Service namespace', '.spec.kube.serviceNamespace', 'Namespace of the Service.')),
    wide({ name: 'Port', type: 'integer', jsonPath: '.spec.kube.servicePort', description: 'Port of the Service.' }),
  ],
};

const STATE = text('State', '.status.statuses.*.state', 'Accepted, Warning, Rejected or Pending.');
const REASON = wide(text('Reason', '.status.statuses.*.reason', 'The problems of the resource.'));
const AGE = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since the creation of the resource.',
} as const;

/** Returns the columns of a kind: what it is about, its state, its age, and with `-o wide` its problems. */
export function printerColumns(kind: Kind): PrinterColumn[] {
  const state =
    kind === 'RateLimitConfig'
      ? [
          { ...STATE, jsonPath: '.status.state' },
          { ...REASON, jsonPath: '.status.message' },
        ]
      : [STATE, REASON];
  return [...(COLUMNS[kind] ?? []), ...state, AGE];
}
