import {
  DEFAULT_SNAPSHOT_SETTINGS,
  createLoggers,
  createMetrics,
  keyOf,
  type ControlPlaneState,
  type Kind,
  type Resource,
  type ResourceKey,
} from '@edge-gateway/core';
import { createControlAdmin, type ControlAdminOptions } from '../../src/index.ts';
import { SECRETS, SNAPSHOT, listen, secrets, type TestPort } from '../sample.ts';

const API_VERSIONS: Partial<Record<Kind, string>> = {
  Secret: 'v1',
  ConfigMap: 'v1',
  VirtualService: 'gateway.vendor.io/v1',
  Upstream: 'gw.vendor.io/v1',
  Proxy: 'gw.vendor.io/v1',
};

/** A resource as validation gives it. */
export function resource(kind: Kind, name: string, spec: unknown, annotations?: Record<string, string>): Resource {
  const metadata = { name, namespace: 'gw-system', ...(annotations && { annotations }) };
  return {
    apiVersion: API_VERSIONS[kind] ?? 'gw.vendor.io/v1',
    kind,
    metadata,
    spec,
    origin: { file: `${name}.yaml`, line: 1, column: 1 },
  };
}

const COPY = 'kubectl.kubernetes.io/last-applied-configuration';

const RESOURCES: readonly Resource[] = [
  resource('VirtualService', 'shop', {
    virtualHost: {
      domains: ['shop.example'],
      options: {
        headerManipulation: { requestHeadersToAdd: [{ header: { key: 'Authorization', value: 'MARKER-inline' } }] },
      },
    },
  }),
  resource('Upstream', 'pets', { static: { hosts: [{ addr: '10.0.0.1', port: 8080 }] } }, { [COPY]: 'MARKER-copy' }),
  resource('ConfigMap', 'rules', { data: { 'a.rego': 'allow = true' } }),
  ...Object.entries(SECRETS).map(([name, { type, data }]) =>
    resource('Secret', name.replace('gw-system.', ''), { type, data }, { [COPY]: 'MARKER-copy', note: 'MARKER-note' }),
  ),
];

const key = (kind: Kind, name: string): ResourceKey => keyOf(kind, { name, namespace: 'gw-system' });

/** A control plane that read a few resources: one accepted, one rejected, one invalid document. */
export const STATE: ControlPlaneState = {
  revision: 3,
  translationMs: 1,
  replacedDefaultPorts: [],
  resources: new Map(RESOURCES.map((each) => [keyOf(each.kind, each.metadata), each])),
  rejected: new Map([
    [key('Upstream', 'broken'), { apiVersion: 'gw.vendor.io/v1', metadata: { name: 'broken' }, spec: 'static' }],
  ]),
  issues: [
    {
      code: 'NO_KIND',
      severity: 'error',
      origin: { file: 'notes.yaml', line: 2, column: 1 },
      path: [],
      message: 'the document has no kind',
    },
    {
      code: 'WRONG_TYPE',
      severity: 'error',
      origin: { file: 'broken.yaml', line: 4, column: 3 },
      kind: 'Upstream',
      namespace: 'gw-system',
      name: 'broken',
      path: ['spec'],
      message: 'must be an object',
    },
  ],
  authConfigs: new Map(),
  settings: DEFAULT_SNAPSHOT_SETTINGS,
  statuses: new Map([
    [key('VirtualService', 'shop'), { statuses: { 'gw-system': { state: 'Accepted', reportedBy: 'gw' } } }],
    [
      key('Upstream', 'broken'),
      { statuses: { 'gw-system': { state: 'Rejected', reportedBy: 'gw', reason: 'must be an object' } } },
    ],
  ]),
  proxies: [resource('Proxy', 'gateway-proxy', { listeners: [] })],
  unservedListeners: new Map(),
  snapshots: new Map([['gateway-proxy', SNAPSHOT]]),
  secrets,
};

/** Options of a control-plane port that shows {@link STATE}. */
export function controlOptions(more: Partial<ControlAdminOptions> = {}): ControlAdminOptions {
  return {
    state: () => STATE,
    loggers: createLoggers({ destination: { write() {} } }),
    metrics: createMetrics(),
    version: '1.2.3',
    components: () => [{ name: 'control-plane', kind: 'control-plane', state: 'ready' }],
    ...more,
  };
}

/** A control-plane port that shows {@link STATE}, listening. */
export function controlAdmin(more: Partial<ControlAdminOptions> = {}): Promise<TestPort> {
  return listen(createControlAdmin(controlOptions(more)));
}
