import {
  createControlPlane,
  memorySource,
  type ControlPlaneState,
  type SecretValue,
  type Snapshot,
} from '@edge-gateway/core';
import { secretsOf, type ProxyState } from '../src/resources/index.ts';

/** A virtual service for one domain that responds itself. */
export const service = (name: string, body: string, options = '{}'): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: ['${name}.example']
    options: ${options}
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: '${body}' }
`;

/** An upstream on a port of this machine. */
export const upstream = (name: string, port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name} }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
`;

/** An AuthConfig with one API key. */
export const authConfig = (name: string, key = 'one'): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: ${name} }
spec: { configs: [{ apiKeyAuth: { headerName: 'x-${key}', labelSelector: { team: a } } }] }
`;

export const secret = (name: string, value: string): string => `
apiVersion: v1
kind: Secret
metadata: { name: ${name} }
type: Opaque
stringData: { a: '${value}' }
`;

/** A control plane on resources in memory, by file. */
export async function startStates(files: Readonly<Record<string, string>>) {
  const source = memorySource(files);
  const controlPlane = createControlPlane({ source, certificateFiles: false });
  let state: ControlPlaneState | undefined;
  controlPlane.subscribe((next) => (state = next));
  await controlPlane.start();
  const snapshot = (): Snapshot => state!.snapshots.get('gateway-proxy')!;
  /** Also those that nothing refers to: tests of the transport need no reference. */
  const allSecrets = () =>
    [...state!.resources.values()].flatMap(({ kind, metadata, spec }) =>
      kind === 'Secret' ? [[`${metadata.namespace}/${metadata.name}`, spec as SecretValue] as const] : [],
    );
  return {
    source,
    snapshot,
    resources: (): ControlPlaneState['resources'] => state!.resources,
    /** The state that a proxy gets. */
    current: (): ProxyState => ({
      snapshot: snapshot(),
      unserved: state!.unservedListeners.get('gateway-proxy') ?? [],
      secrets: new Map([...secretsOf(snapshot(), state!.resources, controlPlane.secrets), ...allSecrets()]),
    }),
    close: () => controlPlane.close(),
  };
}
