import { expect } from 'chai';
import { createControlPlane, memorySource, parsePath, silentLoggers, writtenHostField } from '../../../src/index.ts';

const SHOP = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains:
      - shop.example
    options:
      cors: { allowOrigin: ['https://a.example'] }
    optionsConfigRefs: { delegateOptions: [{ name: everywhere }] }
    routes:
      - matchers: [{ prefix: /tables }]
        options: { timeout: 3s }
        delegateAction: { ref: { name: carts } }
      - matchers:
          - prefix: /a
          - prefix: /b
        routeAction:
          multi:
            destinations:
              - destination: { upstream: { name: up } }
                weight: 1
              - destination: { upstream: { name: up } }
                weight: 2
                options:
                  headerManipulation: { requestHeadersToRemove: [x] }
        optionsConfigRefs: { delegateOptions: [{ name: slow }] }
      - redirectAction:
          hostRedirect: other.example
`;
const CARTS = (first = '') => `apiVersion: gateway.vendor.io/v1
kind: RouteTable
metadata: { name: carts }
spec:
  routes:${first}
    - matchers: [{ prefix: /tables/one }]
      options:
        prefixRewrite: /one
      directResponseAction:
        status: 200
`;
const SHARED = `apiVersion: gateway.vendor.io/v1
kind: VirtualHostOption
metadata: { name: everywhere }
spec:
  options:
    retries: { retryOn: 5xx }
---
apiVersion: gateway.vendor.io/v1
kind: RouteOption
metadata: { name: slow }
spec:
  options:
    timeout: 9s
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: up }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
`;

describe('writtenHostField', () => {
  const source = memorySource({ 'shop.yaml': SHOP, 'carts.yaml': CARTS(), 'shared.yaml': SHARED });
  const controlPlane = createControlPlane({ source, certificateFiles: false, log: silentLoggers });
  before(() => controlPlane.start());
  after(() => controlPlane.close());

  /** `file:line` of a field of the virtual host. */
  function placeOf(field: string): string {
    const { snapshots, resources } = controlPlane.state!;
    const [host] = snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts;
    const { key, path } = writtenHostField(host!, parsePath(field), resources);
    const { file, line } = controlPlane.locate(key, path)!;
    return `${file.replace('memory:', '')}:${line}`;
  }

  for (const [field, place] of [
    ['', 'shop.yaml:5'],
    ['domains[0]', 'shop.yaml:7'],
    ['options.cors.allowOrigin[0]', 'shop.yaml:9'],
    ['options.retries.retryOn', 'shared.yaml:6'],
    ['options.unknownElsewhere', 'shop.yaml:5'],
    ['routes[0]', 'carts.yaml:6'],
    ['routes[0].matchers[0].prefix', 'carts.yaml:6'],
    ['routes[0].options.prefixRewrite', 'carts.yaml:8'],
    ['routes[0].options.timeout', 'shop.yaml:13'],
    ['routes[0].action.status', 'carts.yaml:10'],
    ['routes[1].matchers[1].prefix', 'shop.yaml:17'],
    ['routes[1].action.destinations[1].options.headerManipulation', 'shop.yaml:26'],
    ['routes[1].action.destinations[0]', 'shop.yaml:21'],
    ['routes[1].options.timeout', 'shared.yaml:13'],
    ['routes[2].action.redirect.hostRedirect', 'shop.yaml:29'],
    ['routes[9].options.timeout', 'shop.yaml:5'],
  ] as const) {
    it(`finds ${field || 'the virtual host'}`, () => expect(placeOf(field)).to.equal(place));
  }

  it('follows a route that moves although it is the same', () => {
    expect(placeOf('routes[0].options.prefixRewrite')).to.equal('carts.yaml:8');
    const moved = '\n    - matchers: [{ prefix: /outside }]\n      directResponseAction: { status: 200 }';
    source.set('carts.yaml', CARTS(moved));
    expect(placeOf('routes[0].options.prefixRewrite')).to.equal('carts.yaml:10');
    source.set('carts.yaml', CARTS());
  });
});
