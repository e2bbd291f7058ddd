import { Server, ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { authorization } from '../../../packages/extauth/src/grpc/protocol.ts';
import { protect, type Protected } from './protection.ts';

const resources = (port: number, clearRouteCache: boolean): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: own, namespace: gw-system }
spec: { configs: [{ passThroughAuth: { grpc: { address: '127.0.0.1:${port}' } } }] }
---
apiVersion: settings.gw.vendor.io/v1
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

interface Asked {
  readonly attributes: {
    readonly source: {
      readonly address: { readonly socketAddress: { readonly address: string; readonly portValue: number } };
    };
    readonly request: {
      readonly http: { readonly scheme: string; readonly headers: Readonly<Record<string, string>> };
    };
  };
}

const behindProxy = `---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 8080
  proxyNames: [gateway-proxy]
  httpGateway:
    options: { httpConnectionManagerSettings: { useRemoteAddress: true, xffNumTrustedHops: 1 } }
`;

describe('changes by a gRPC auth server', () => {
  let server: Server;
  let gateway: Protected;
  let asked: Asked[];
  const open = async (clearRouteCache: boolean, more: object = {}, others = ''): Promise<void> => {
    server = new Server();
    asked = [];
    const Check = (call: { readonly request: Asked }, reply: (error: null, answer: object) => void): void => {
      asked.push(call.request);
      reply(null, {
        okResponse: { queryParametersToSet: [{ key: 'plan', value: 'gold' }], queryParametersToRemove: ['t'], ...more },
      });
    };
    server.addService(authorization().service, { Check });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    gateway = await protect(resources(port, clearRouteCache) + others);
  };
  afterEach(async () => {
    await gateway.close();
    server.forceShutdown();
  });

  it('query parameters: reach the upstream, and keep the route', async () => {
    await open(false);
    const { status, body } = await gateway.ask('/a?t=secret&plan=free');
    expect(status).to.equal(200);
    expect(JSON.parse(body)).to.include({ path: '/a?plan=gold' });
  });

  it('query parameters: select the route and its policies again with clearRouteCache', async () => {
    await open(true);
    expect(await gateway.ask('/a?plan=free')).to.include({ status: 403, body: 'RBAC: access denied' });
  });

  it('receives the client that the listener trusts, not a forged one', async () => {
    const forged = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7', 'x-forwarded-proto': 'https' };
    await open(false, {}, behindProxy);
    await gateway.ask('/a', forged);
    await gateway.close();
    server.forceShutdown();
    const [trusted] = asked;
    await open(false, {}, behindProxy.replace('xffNumTrustedHops: 1', 'xffNumTrustedHops: 0'));
    await gateway.ask('/a', forged);
    const clientOf = ({ attributes: { source, request } }: Asked) => {
      const { address, portValue } = source.address.socketAddress;
      return [address, portValue > 0, request.http.scheme, request.http.headers['x-forwarded-proto']];
    };
    expect(clientOf(trusted!)).to.deep.equal(['203.0.113.7', false, 'https', 'https']);
    expect(clientOf(asked[0]!)).to.deep.equal(['127.0.0.1', true, 'http', 'http']);
  });

  it('response headers: follow append_action and the headers of the upstream', async () => {
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
