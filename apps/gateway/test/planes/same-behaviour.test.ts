import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createContext,
  createControlPlane,
  createMetrics,
  memorySource,
  runSteps,
  silentLoggers,
  type ControlPlane,
} from '@edge-gateway/core';
import { createStateDecoder, createStateEncoder, RESOURCE_TYPES, secretsOf } from '@edge-gateway/xds/resources';
import { expect } from 'chai';
import { createIssuer, ISSUER } from '../../../../packages/core/test/security/jwt/issuer.ts';
import { createDataPlane, type LocalDataPlane } from '../../src/roles/data-plane.ts';

const issuer = await createIssuer();
const bearer = async (claims: Record<string, unknown>) => `Bearer ${await issuer.sign({ exp: 4e9, ...claims })}`;
const [admin, user] = [await bearer({ role: 'admin' }), await bearer({ role: 'user' })];

const resources = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: staff }
spec:
  configs:
    - basicAuth: { realm: pets, apr: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } } }
---
apiVersion: v1
kind: Secret
metadata: { name: header }
type: Opaque
stringData: { x-secret: from-the-secret }
---
apiVersion: gateway.vendor.io/v1
kind: RouteOption
metadata: { name: shared }
spec: { options: { timeout: 3s, headerManipulation: { responseHeadersToAdd: [{ header: { key: x-shared, value: 'yes' } }] } } }
---
apiVersion: gateway.vendor.io/v1
kind: RouteTable
metadata: { name: table }
spec:
  routes:
    - { matchers: [{ prefix: /table/a }], options: { prefixRewrite: /rewritten }, routeAction: { single: { upstream: { name: echo } } } }
    - { matchers: [{ regex: '/table/[0-9]+' }], directResponseAction: { status: 201, body: number } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: open }
spec:
  virtualHost:
    domains: [open.example]
    options:
      cors: { allowOrigin: ['https://a.example'], allowMethods: [GET] }
      headerManipulation:
        requestHeadersToAdd: [{ header: { key: x-added, value: '%REQ(:path)%' } }]
        responseHeadersToRemove: [x-internal]
    routes:
      - { matchers: [{ prefix: /table }], delegateAction: { ref: { name: table } } }
      - { matchers: [{ exact: /moved }], redirectAction: { pathRedirect: /new, responseCode: FOUND } }
      - matchers: [{ prefix: /limited }]
        options: { ratelimit: { localRatelimit: { maxTokens: 1, fillInterval: 3600s } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /post, methods: [POST] }]
        options:
          stagedTransformations:
            regular: { requestTransforms: [{ requestTransformation: { transformationTemplate: { headers: { x-name: { text: '{{ name }}' } } } } }] }
        routeAction: { single: { upstream: { name: echo } } }
      - { matchers: [{ prefix: /missing }], routeAction: { single: { upstream: { name: missing } } } }
      - matchers: [{ prefix: / }]
        optionsConfigRefs: { delegateOptions: [{ name: shared }] }
        routeAction:
          multi:
            destinations:
              - weight: 1
                destination: { upstream: { name: echo } }
                options: { headerManipulation: { requestHeadersToAdd: [{ headerSecretRef: { name: header } }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: guarded }
spec:
  virtualHost:
    domains: [guarded.example]
    options: { extauth: { configRef: { name: staff, namespace: gw-system } } }
    routes:
      - { matchers: [{ prefix: /free }], options: { extauth: { disable: true } }, directResponseAction: { status: 200, body: free } }
      - { matchers: [{ prefix: / }], routeAction: { single: { upstream: { name: echo } } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: claims }
spec:
  virtualHost:
    domains: [claims.example]
    options:
      jwt: { providers: { p: { issuer: '${ISSUER}', jwks: { local: { key: '${issuer.keySet}' } }, claimsToHeaders: [{ claim: role, header: x-role }] } } }
      rbac: { policies: { admins: { principals: [{ jwtPrincipal: { claims: { role: admin } } }], permissions: { pathPrefix: /admin } } } }
    routes:
      - { matchers: [{ prefix: / }], routeAction: { single: { upstream: { name: echo } } } }
`;

interface Sent {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const basic = (password: string) => `Basic ${Buffer.from(`alice:${password}`).toString('base64')}`;
const REQUESTS: readonly (Sent & { readonly status: number })[] = [
  { host: 'open.example', path: '/', status: 200 },
  { host: 'open.example', path: '/table/a/b?c=1', status: 200 },
  { host: 'open.example', path: '/table/12', status: 201 },
  { host: 'open.example', path: '/table/other', status: 200 },
  { host: 'open.example', path: '/moved', status: 302 },
  { host: 'open.example', path: '/limited', status: 200 },
  { host: 'open.example', path: '/limited', status: 429 },
  { host: 'open.example', path: '/post', method: 'POST', body: '{"name":"rex"}', status: 200 },
  { host: 'open.example', path: '/missing', status: 404 },
  {
    host: 'open.example',
    path: '/',
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    status: 200,
  },
  { host: 'open.example', path: '/', headers: { origin: 'https://other.example' }, status: 200 },
  { host: 'other.example', path: '/', status: 404 },
  { host: 'guarded.example', path: '/', status: 401 },
  { host: 'guarded.example', path: '/', headers: { authorization: basic('wrong') }, status: 401 },
  { host: 'guarded.example', path: '/', headers: { authorization: basic('password') }, status: 200 },
  { host: 'guarded.example', path: '/free', status: 200 },
  { host: 'claims.example', path: '/admin', status: 401 },
  { host: 'claims.example', path: '/admin', headers: { authorization: admin }, status: 200 },
  { host: 'claims.example', path: '/admin', headers: { authorization: user }, status: 403 },
  { host: 'claims.example', path: '/other', headers: { authorization: admin }, status: 403 },
  { host: 'claims.example', path: '/admin', headers: { authorization: `${admin}x` }, status: 401 },
];

/** What differs between two requests although the gateway does the same. */
const VARYING = /^(?:date|x-request-id|x-envoy-upstream-service-time|host)$/i;
const comparable = (headers: readonly string[]): string[] => {
  const pairs = headers.flatMap((name, i) =>
    i % 2 === 0 && !VARYING.test(name) ? [`${name}: ${headers[i + 1]}`] : [],
  );
  return pairs.sort();
};

describe('a state that is handed over as objects, and the same state after encoding and decoding', () => {
  let echo: Server;
  let controlPlane: ControlPlane;
  const planes: LocalDataPlane[] = [];

  before(async () => {
    echo = createServer((req, res) => {
      const body: Buffer[] = [];
      req.on('data', (chunk: Buffer) => body.push(chunk));
      req.on('end', () => {
        res.setHeader('x-internal', 'hidden');
        res.end(JSON.stringify([req.method, req.url, comparable(req.rawHeaders), Buffer.concat(body).toString()]));
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => echo.once('listening', resolve));
    controlPlane = createControlPlane({
      source: memorySource({ 'all.yaml': resources((echo.address() as AddressInfo).port) }),
      defaultGateways: { httpPort: 0, httpsPort: 0, proxyName: 'gateway-proxy' },
      certificateFiles: false,
      log: silentLoggers,
    });
    await controlPlane.start();
    const { snapshots, resources: stored, unservedListeners } = controlPlane.state!;
    const snapshot = snapshots.get('gateway-proxy')!;
    const unserved = unservedListeners.get('gateway-proxy') ?? [];
    const secrets = secretsOf(snapshot, stored, controlPlane.secrets);

    const decoder = createStateDecoder();
    const encoded = createStateEncoder().encode({ snapshot, unserved, secrets });
    for (const type of RESOURCE_TYPES)
      for (const resource of encoded.types.get(type)!.byName.values()) decoder.receive({ type, ...resource });
    const decoded = decoder.build();
    expect(decoded.rejections).to.deep.equal([]);

    for (const [state, held] of [
      [{ snapshot, unserved, secrets: () => secrets }, controlPlane.secrets],
      [{ ...decoded, secrets: decoder.secretValues }, decoder.secrets],
    ] as const) {
      const context = createContext({ log: silentLoggers, metrics: createMetrics(), secrets: held });
      const settings = {
        proxyName: 'gateway-proxy',
        accessLogOverflow: 'drop',
        http1Parser: 'plain',
        http2Client: 'direct',
      } as const;
      const plane = createDataPlane(context, settings);
      planes.push(plane);
      const { failed, listening } = runSteps(plane.apply(state));
      expect(failed).to.deep.equal([]);
      await listening;
    }
  });
  after(async () => {
    for (const plane of planes) await plane.close();
    await controlPlane.close();
    echo.close();
    echo.closeAllConnections();
  });

  function send(plane: LocalDataPlane, { host, path, method = 'GET', headers = {}, body }: Sent) {
    const { port } = plane.listeners.addresses()[0]!;
    return new Promise<{ status: number; headers: string[]; body: string }>((resolve, reject) => {
      const req = request({ host: '127.0.0.1', port, path, method, headers: { ...headers, host }, agent: false });
      req.on('error', reject);
      req.on('response', (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve({ status: res.statusCode!, headers: comparable(res.rawHeaders), body: text }));
      });
      req.end(body);
    });
  }

  for (const { status, ...sent } of REQUESTS) {
    it(`respond alike: ${sent.method ?? 'GET'} ${sent.host}${sent.path}, ${status}`, async () => {
      const [asObjects, decoded] = [await send(planes[0]!, sent), await send(planes[1]!, sent)];
      expect(asObjects.status).to.equal(status);
      expect(decoded).to.deep.equal(asObjects);
    });
  }
});
