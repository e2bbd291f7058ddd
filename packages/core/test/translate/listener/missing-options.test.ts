import { expect } from 'chai';
import { createControlPlane, formatIssue, memorySource } from '../../../src/index.ts';
import { createStore } from '../../../src/control/store.ts';
import { translate } from '../../../src/translate/translate.ts';
import { load } from '../load.ts';

const SERVICE = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    routes:
      - matchers: [{ prefix: /open }]
        routeAction:
          dynamicForwardProxy: { autoHostRewriteHeader: x-target }
      - matchers: [{ prefix: /team }]
        options:
          bufferPerRoute: { buffer: { maxRequestBytes: 30 } }
        delegateAction: { ref: { name: team } }
      - matchers: [{ prefix: /shared }]
        directResponseAction: { status: 200 }
        optionsConfigRefs: { delegateOptions: [{ name: small }] }
`;
const TABLE = `apiVersion: gateway.vendor.io/v1
kind: RouteTable
metadata: { name: team, namespace: gw-system }
spec:
  routes:
    - matchers: [{ prefix: /team/inherits }]
      directResponseAction: { status: 200 }
    - matchers: [{ prefix: /team/open }]
      name: own
      routeAction:
        dynamicForwardProxy: { hostRewrite: example.com }
      options: { bufferPerRoute: { disabled: true } }
`;
const SHARED = `apiVersion: gateway.vendor.io/v1
kind: RouteOption
metadata: { name: small, namespace: gw-system }
spec:
  options:
    bufferPerRoute: { buffer: { maxRequestBytes: 20 } }
`;
const gateway = (name: string, port: number, options = '') => `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: gw-system }
spec: { bindPort: ${port}, httpGateway: { ${options} } }
`;
const BOTH = 'options: { buffer: { maxRequestBytes: 1024 }, dynamicForwardProxy: {} }';

const needsProxy = (owners: string, route: string) =>
  `Route Warning: InvalidDestinationWarning. Reason: dynamicForwardProxy needs httpGateway.options.dynamicForwardProxy of ${owners}: requests get 503 without it. Route Name: ${route}`;
const needsBuffer = (owners: string, route: string) =>
  `Route Warning: ProcessingWarning. Reason: bufferPerRoute has no effect without httpGateway.options.buffer of ${owners}. Route Name: ${route}`;

async function issuesOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const controlPlane = createControlPlane({ source: memorySource(files) });
  await controlPlane.start();
  const issues = controlPlane.state!.issues.map(formatIssue);
  await controlPlane.close();
  return issues;
}

describe('options that gateways lack', () => {
  const routes = { 'service.yaml': SERVICE, 'table.yaml': TABLE, 'shared.yaml': SHARED };

  it('are reported once, at the field that needs them, with the gateways', async () => {
    const gateways = { 'a.yaml': gateway('a', 8080), 'b.yaml': gateway('b', 8081), 'c.yaml': gateway('c', 8082, BOTH) };
    const owners = 'Gateways gw-system.a, gw-system.b';
    const route = 'memory:service.yaml';
    const who = 'VirtualService gw-system/shop';
    expect(await issuesOf({ ...routes, ...gateways })).to.deep.equal([
      `${route}:9:11  ${who}  spec.virtualHost.routes[0].routeAction.dynamicForwardProxy  ${needsProxy(owners, '<unnamed-0>')}`,
      `${route}:12:11  ${who}  spec.virtualHost.routes[1].options.bufferPerRoute  ${needsBuffer(owners, '<unnamed-1>')}`,
      `memory:shared.yaml:6:5  ${who}  spec.virtualHost.routes[2].optionsConfigRefs.delegateOptions[0]  ${needsBuffer(owners, '<unnamed-2>')}`,
      `memory:table.yaml:11:9  RouteTable gw-system/team  spec.routes[1].routeAction.dynamicForwardProxy  ${needsProxy(owners, 'own')}`,
    ]);
  });

  it('are not reported of gateways that have them', async () => {
    expect(await issuesOf({ ...routes, 'c.yaml': gateway('c', 8082, BOTH) })).to.deep.equal([]);
  });

  it('are reported of the default gateway by its name', async () => {
    const issues = await issuesOf({ 'shared.yaml': SHARED, 'service.yaml': SERVICE, 'table.yaml': TABLE });
    expect(issues[0]).to.match(/^memory:service.yaml:9:11 .* of Gateway gw-system.gateway-proxy: requests get 503/);
  });

  it('leave and enter the statuses of routes when only a gateway changes', () => {
    const store = createStore();
    const documents = [SERVICE, TABLE, SHARED];
    const stateOf = (translation: ReturnType<typeof translate>, key: string) =>
      Object.values(translation.statuses.get(key as never)!.statuses)[0]!.state;
    const first = translate(load([...documents, gateway('a', 8080)], store));
    const second = translate(load([...documents, gateway('a', 8080, BOTH)], store), first.memo);
    const third = translate(load([...documents, gateway('a', 8080)], store), second.memo);
    for (const key of ['VirtualService/gw-system/shop', 'RouteTable/gw-system/team']) {
      expect([first, second, third].map((one) => stateOf(one, key))).to.deep.equal(['Warning', 'Accepted', 'Warning']);
    }
    expect(stateOf(first, 'Gateway/gw-system/a')).to.equal('Accepted');
    expect(first.memo.listeners.values().next().value!.problems).to.deep.equal([]);
  });
});
