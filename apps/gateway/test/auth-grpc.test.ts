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

describe('what a gRPC auth server changes', () => {
  let server: Server;
  let gateway: Protected;
  const open = async (clearRouteCache: boolean, more: object = {}): Promise<void> => {
    server = new Server();
    const Check = (_call: unknown, reply: (error: null, answer: object) => void): void =>
      reply(null, {
        okResponse: { queryParametersToSet: [{ key: 'plan', value: 'gold' }], queryParametersToRemove: ['t'], ...more },
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

  it('query parameters: they reach the upstream, and the route stays', async () => {
    await open(false);
    const { status, body } = await gateway.ask('/a?t=secret&plan=free');
    expect(status).to.equal(200);
    expect(JSON.parse(body)).to.include({ path: '/a?plan=gold' });
  });

  it('query parameters: they choose the route again where the settings say so, so that its policies hold', async () => {
    await open(true);
    expect(await gateway.ask('/a?plan=free')).to.include({ status: 403, body: 'RBAC: access denied' });
  });

  it('headers of the response, as each says, by what the upstream answers', async () => {
    const header = (key: string, appendAction?: number) => ({ header: { key, value: 'new' }, appendAction });
    const [addIfAbsent, overwrite, overwriteIfExists] = [1, 2, 3];
    await open(false, {
      responseHeadersToAdd: [
        header('x-absent', addIfAbsent),
        header('date', addIfAbsent),
        header('transfer-encoding', overwrite),
        header('x-over', overwrite),
        header('x-never', overwriteIfExists),
        header('x-absent', overwriteIfExists),
        header('x-added'),
        header('x-added'),
      ],
    });
    const { headers } = await gateway.ask('/a');
    expect(headers).to.include({ 'x-absent': 'new', 'x-over': 'new', 'x-added': 'new, new' });
    expect(headers).not.to.have.property('x-never');
    expect(headers.date).not.to.equal('new');
  });
});
