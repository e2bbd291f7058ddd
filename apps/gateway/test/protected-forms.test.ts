import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess } from './gateway-process.ts';
import { FORMS } from './protection-forms.ts';

const JWK = { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'k' };
const PROVIDERS = JSON.stringify({ main: { issuer: 'https://id', jwks: { local: { key: JSON.stringify(JWK) } } } });

/** Options that reject every request of the forms, and how. */
const POLICIES: Readonly<
  Record<string, { readonly options: (level: Level) => string; readonly rejected: string; readonly grpc: string }>
> = {
  jwt: {
    options: (level) =>
      level === 'virtual host'
        ? `jwtStaged: { afterExtAuth: { providers: ${PROVIDERS} } }`
        : `jwtProvidersStaged: { afterExtAuth: { providers: ${PROVIDERS} } }`,
    rejected: '401',
    grpc: 'grpc 16',
  },
  rbac: {
    options: () => 'rbac: { policies: { p: { permissions: { pathPrefix: /only, methods: [PATCH] } } } }',
    rejected: '403',
    grpc: 'grpc 7',
  },
  extauth: {
    options: () => 'extauth: { configRef: { name: keys, namespace: gw-system } }',
    rejected: '401',
    grpc: 'grpc 16',
  },
  ratelimit: {
    options: () => 'ratelimitBasic: { anonymousLimits: { requestsPerUnit: 0, unit: HOUR } }',
    rejected: '429',
    grpc: 'grpc 14',
  },
};
const LEVELS = ['virtual host', 'route', 'route table'] as const;
type Level = (typeof LEVELS)[number];
const ACTIONS = {
  single: 'routeAction: { single: { upstream: { name: echo } } }',
  multi:
    'routeAction: { multi: { destinations: [{ weight: 1, destination: { upstream: { name: echo } } }, { weight: 1, destination: { upstream: { name: echo } } }] } }',
} as const;

const hostOf = (policy: string, level: Level, action: string): string =>
  `${policy}-${level.replace(' ', '-')}-${action}.example`;

/** Returns a virtual service that accepts every form, protected at this level. */
function service(policy: string, level: Level, action: keyof typeof ACTIONS): string {
  const host = hostOf(policy, level, action);
  const options = POLICIES[policy]?.options(level) ?? '';
  const at = (where: Level, more = ''): string =>
    `options: { ${[where === level ? options : '', more].filter(Boolean).join(', ')} }`;
  const isDelegated = level === 'route table';
  const route = (name: string, matcher: string, upgrade: string): string => `
      - name: ${name}
        matchers: [${matcher}]
        ${at(isDelegated ? level : 'route', `upgrades: [{ ${upgrade}: {} }]`)}
        ${ACTIONS[action]}`;
  // A route table has no routes for CONNECT, which has no path.
  const routes =
    (isDelegated ? '' : route('tunnel', '{ connectMatcher: {} }', 'connect')) +
    route('web', '{ prefix: / }', 'websocket');
  const table = `---
apiVersion: gateway.vendor.io/v1
kind: RouteTable
metadata: { name: ${host}, namespace: gw-system }
spec:
  routes:${routes}
`;
  const delegated = `
      - matchers: [{ prefix: / }]
        delegateAction: { ref: { name: ${host}, namespace: gw-system } }`;
  return `---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${host}, namespace: gw-system }
spec:
  virtualHost:
    domains: ['${host}', '${host}:443']
    ${at('virtual host')}
    routes:${isDelegated ? delegated : routes}
${isDelegated ? table : ''}`;
}

const shared = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: v1
kind: Secret
metadata: { name: alice, namespace: gw-system }
type: extauth.vendor.io/apikey
stringData: { api-key: k-1 }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys, namespace: gw-system }
spec: { configs: [{ apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: alice }] } } }] }
`;

for (const parser of ['node', 'plain']) {
  describe(`requests without credentials, with --http1-parser ${parser}`, () => {
    const gateway = new GatewayProcess();
    let upstream: Server;
    let reached = 0;

    before(async () => {
      upstream = createServer((socket) => {
        socket
          .on('error', () => {})
          .on('data', (chunk: Buffer) => {
            // Not the data in a tunnel, which may arrive later.
            if (!chunk.includes(' HTTP/1.1\r\n')) return;
            reached++;
            socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          });
      });
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      const services = ['none', ...Object.keys(POLICIES)].flatMap((policy) =>
        LEVELS.flatMap((level) => [service(policy, level, 'single'), service(policy, level, 'multi')]),
      );
      gateway.write('all.yaml', shared((upstream.address() as AddressInfo).port) + services.join(''));
      await gateway.start('--http1-parser', parser);
      expect(gateway.errors).to.equal('');
    });
    after(async () => {
      await gateway.close();
      upstream.close();
    });

    const port = (): number => Number(new URL(gateway.url).port);

    for (const level of LEVELS) {
      for (const [form, send] of Object.entries(FORMS)) {
        if (level === 'route table' && form.startsWith('CONNECT')) continue;
        it(`reach an unprotected upstream: ${form}, ${level}`, async () => {
          for (const action of ['single', 'multi']) {
            const before = reached;
            await send(port(), hostOf('none', level, action));
            expect(reached).to.be.greaterThan(before);
          }
        });

        it(`are rejected: ${form}, protected by its ${level}`, async () => {
          const before = reached;
          for (const [policy, { rejected, grpc }] of Object.entries(POLICIES)) {
            for (const action of ['single', 'multi']) {
              const status = await send(port(), hostOf(policy, level, action));
              expect(status, `${policy}, ${action}`).to.equal(form.startsWith('gRPC') ? grpc : rejected);
            }
          }
          expect(reached).to.equal(before);
        });
      }
    }
  });
}
