import { expect } from 'chai';
import { formatPath } from '../../../src/resource/problem.ts';
import { keyOf } from '../../../src/resource/resource.ts';
import { translate } from '../../../src/translate/translate.ts';
import { unvalidated } from '../unvalidated.ts';

const RESOURCES = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9000 }] } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: staff, namespace: gw-system }
spec: { configs: [{ basicAuth: { apr: { users: { a: { salt: b, hashedPassword: c } } } } }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: [shop.example.com]
    options: &staff { extauth: { configRef: { name: staff, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: /a }]
        options: *staff
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: / }]
        routeAction:
          multi:
            destinations:
              - { weight: 1, destination: { upstream: { name: echo } } }
              - { weight: 1, destination: { upstream: { name: echo } }, options: *staff }
`;

describe('references to AuthConfigs', () => {
  it('are named by warnings about a last good version', () => {
    const stored = new Map(unvalidated(RESOURCES));
    const key = keyOf('AuthConfig', { name: 'staff', namespace: 'gw-system' });
    stored.set(key, { ...stored.get(key)!, stale: true });
    const found = translate({ stored }).problems.filter(({ key: owner }) => owner.startsWith('VirtualService/'));
    expect(found.map(({ problem: { severity, path } }) => `${severity} ${formatPath(path)}`)).to.deep.equal([
      'warning spec.virtualHost.options.extauth.configRef',
      'warning spec.virtualHost.routes[0].options.extauth.configRef',
      'warning spec.virtualHost.routes[1].routeAction.multi.destinations[1].options.extauth',
    ]);
    for (const { problem } of found)
      expect(problem.message).to.equal('AuthConfig gw-system.staff serves its last good version: it is not valid');
  });
});
