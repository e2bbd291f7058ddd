import { expect } from 'chai';
import { skipWithoutOpa } from '../../../test/parts/opa.ts';
import { protect } from './protection.ts';

const resources = (module: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: { name: policy, namespace: gw-system }
data:
  policy.rego: ${JSON.stringify(module)}
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: guard, namespace: gw-system }
spec: { configs: [{ opaAuth: { modules: [{ name: policy }], query: data.a.allow } }] }
---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { extauth: { requestTimeout: 20s } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: guard } } }
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;
const allow = (path: string): string => resources(`package a\nallow if input.http_request.path == "${path}"`);

describe('policies of ConfigMaps', () => {
  before(async function () {
    await skipWithoutOpa(this);
  });

  it('take effect when the ConfigMap changes, and stay in use if its new modules cannot be compiled', async () => {
    const gateway = await protect(allow('/a'));
    const becomes = async (path: string, status: number): Promise<void> => {
      for (const giveUp = performance.now() + 20_000; (await gateway.ask(path)).status !== status;) {
        if (performance.now() > giveUp) throw new Error(`${path} does not become ${status}`);
      }
    };
    await becomes('/a', 200);
    expect((await gateway.ask('/b')).status).to.equal(403);
    gateway.source.set('resources', allow('/b'));
    await becomes('/b', 200);
    expect((await gateway.ask('/a')).status).to.equal(403);
    gateway.source.set('resources', resources('package a\nallow if {'));
    expect((await gateway.ask('/b')).status).to.equal(200);
    expect((await gateway.ask('/a')).status).to.equal(403);
    gateway.source.set('resources', allow('/c'));
    await becomes('/c', 200);
    expect((await gateway.ask('/b')).status).to.equal(403);
    await gateway.close();
  }).timeout(90_000);

  it('deny everything if they never were valid', async () => {
    const gateway = await protect(resources('package a\nallow if {'));
    expect((await gateway.ask('/a')).status).to.equal(403);
    expect(gateway.reached()).to.equal(0);
    await gateway.close();
  });
});
