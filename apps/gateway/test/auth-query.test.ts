import { Server, ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { Authorization } from '../../../packages/extauth/src/grpc/protocol.ts';
import { protect, type Protected } from './protection.ts';

const resources = (port: number, clearRouteCache: boolean): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: own, namespace: gw-system }
spec: { configs: [{ passThroughAuth: { grpc: { address: '127.0.0.1:${port}' } } }] }
---
apiVersion: gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { extauth: { requestTimeout: 5s, clearRouteCache: ${clearRouteCache} } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: own, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: /, queryParameters: [{ name: plan, value: gold }] }]
        options:
          rbac: { policies: { none: { permissions: { pathPrefix: /elsewhere }, principals: [] } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

describe('query parameters that an auth server sets', () => {
  let server: Server;
  let gateway: Protected;
  const open = async (clearRouteCache: boolean): Promise<void> => {
    server = new Server();
    const Check = (_call: unknown, reply: (error: null, answer: object) => void): void =>
      reply(null, {
        okResponse: { queryParametersToSet: [{ key: 'plan', value: 'gold' }], queryParametersToRemove: ['t'] },
      });
    server.addService(Authorization.service, { Check });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    gateway = await protect(resources(port, clearRouteCache));
  };
  afterEach(async () => {
    await gateway.close();
    server.forceShutdown();
  });

  it('reach the upstream, and the route stays', async () => {
    await open(false);
    const { status, body } = await gateway.ask('/a?t=secret&plan=free');
    expect(status).to.equal(200);
    expect(JSON.parse(body)).to.include({ path: '/a?plan=gold' });
  });

  it('choose the route again where the settings say so, so that its policies hold', async () => {
    await open(true);
    expect(await gateway.ask('/a?plan=free')).to.include({ status: 403, body: 'RBAC: access denied' });
  });
});
