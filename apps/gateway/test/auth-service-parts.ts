import { createContext, createControlPlane, memorySource, silentLoggers, type MemorySource } from '@edge-gateway/core';
import { createAuthService, listenGrpc, listenHttp } from '@edge-gateway/extauth';
import { AUTH_METHODS } from '../src/concerns.ts';
import { upstream } from './protection.ts';

/** Where AuthConfigs are evaluated: in the gateway, or by the auth service over one of its protocols. */
export type AuthPlace = 'embedded' | 'gRPC' | 'HTTP';

/** The auth service in this process. */
export interface RunningService {
  readonly source: MemorySource;
  /** Upstreams of the service, for the resources of a gateway. */
  readonly upstreams: string;
  close(): Promise<void>;
}

/** Starts the auth service with resources, on free ports. */
export async function startAuthService(resources: string): Promise<RunningService> {
  const source = memorySource({ resources });
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  const context = createContext({ log: silentLoggers, secrets: controlPlane.secrets });
  const service = createAuthService({ context, methods: AUTH_METHODS });
  controlPlane.subscribe((state) => service.update(state));
  await controlPlane.start();
  const place = { address: '127.0.0.1', port: 0, log: silentLoggers.get('ext_authz') };
  const servers = [await listenGrpc(service, place), await listenHttp(service, place)] as const;
  return {
    source,
    upstreams: `${upstream(servers[0].port, 'auth')}---${upstream(servers[1].port, 'auth-http')}`,
    async close() {
      for (const server of servers) server.close();
      service.close();
      await controlPlane.close();
    },
  };
}

/** Returns the Settings of a gateway that has its AuthConfigs evaluated at a place. `common` has the fields that all places need. */
export function settingsFor(place: AuthPlace, configs: readonly string[], common: string): string {
  const { extauth, namedExtauth } = {
    embedded: { extauth: `{ ${common} }`, namedExtauth: '{}' },
    gRPC: { extauth: `{ ${common}, extauthzServerRef: { name: auth } }`, namedExtauth: '{}' },
    HTTP: {
      extauth: `{ ${common} }`,
      namedExtauth: `{ ${configs.map((name) => `${name}: ${httpServer(name, common)}`).join(', ')} }`,
    },
  }[place];
  return `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { extauth: ${extauth}, namedExtauth: ${namedExtauth} }
`;
}

const httpServer = (config: string, common: string): string => `{
      ${common},
      extauthzServerRef: { name: auth-http },
      httpService: {
        pathPrefix: /check/gw-system.${config},
        request: { allowedHeadersRegex: ['.*'] },
        response: { allowedUpstreamHeaders: [x-user-id, x-team, x-from, cookie], allowedClientHeadersOnSuccess: [set-cookie] },
      },
    }`;

/** Returns the option that protects a route with an AuthConfig, evaluated at a place. */
export const optionFor = (place: AuthPlace, config: string): string =>
  place === 'HTTP' ? `extauth: { customAuth: { name: ${config} } }` : `extauth: { configRef: { name: ${config} } }`;
