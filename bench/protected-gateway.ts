import { createContext, DEFAULT_SNAPSHOT_SETTINGS, type Concern, type Route } from '@edge-gateway/core';
import { jwtConcern, rbacConcern } from '@edge-gateway/rbac';
import { createListeners, createRouter } from '@edge-gateway/routing';

// The gateway of the benchmark of protected requests, in a process of its own: `node protected-gateway.ts UPSTREAM_PORT`,
// then a message with the key set. It answers with its port.
const UPSTREAM = 'up_gw-system';
const context = createContext();
const concerns = [jwtConcern, rbacConcern] as readonly Concern[];
const router = createRouter({ concerns, context, accessLog: 'none' });
const listeners = createListeners({ router, context });

function routeOf(prefix: string, options: object): Route {
  return {
    name: prefix,
    logName: '',
    matchers: [{ prefix }],
    action: { type: 'forward', destinations: [{ upstream: UPSTREAM, weight: 1, options: {} }] },
    options,
    source: { kind: 'VirtualService', name: 'host', namespace: 'gw-system' },
  };
}

function protection(key: string): object {
  const main = { issuer: 'https://issuer.test', jwks: { local: { key } }, claimsToHeaders: [HEADER] };
  const principals = [{ jwtPrincipal: { claims: { email: 'admin@example.com' } } }];
  const policies = { admins: { principals, permissions: { methods: ['GET'], pathPrefix: '/safe' } } };
  return { jwtProvidersStaged: { afterExtAuth: { providers: { main } } }, rbac: { policies } };
}
const HEADER = { claim: 'email', header: 'x-email' };

async function serve(key: string): Promise<void> {
  const endpoints = [{ address: '127.0.0.1', port: Number(process.argv[2]), weight: 1 }];
  const ref = { name: 'up', namespace: 'gw-system' };
  const snapshot = {
    proxy: 'gateway-proxy',
    version: '1',
    settings: DEFAULT_SNAPSHOT_SETTINGS,
    upstreams: [{ name: UPSTREAM, ref, spec: {}, endpoints, tls: false }],
    listeners: [
      {
        name: 'bench',
        bindAddress: '127.0.0.1',
        bindPort: 0,
        gateway: { name: 'gateway-proxy', namespace: 'gw-system' },
        ssl: false,
        options: {},
        httpOptions: {},
        routeOptions: {},
        sslConfigurations: [],
        virtualHosts: [
          {
            name: 'gw-system.host',
            virtualService: { name: 'host', namespace: 'gw-system' },
            domains: ['*'],
            options: {},
            routes: [routeOf('/safe', protection(key)), routeOf('/open', {})],
            authConfigs: [],
            rateLimitConfigs: [],
            graphqlApis: [],
          },
        ],
      },
    ],
  };
  router.apply(snapshot);
  await listeners.apply(snapshot);
  process.send!({ port: listeners.addresses()[0]!.port });
}

process.on('disconnect', () => process.exit());
process.on('message', (key: string) => void serve(key));
