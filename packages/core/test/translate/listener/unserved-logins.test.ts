import { expect } from 'chai';
import { createStore } from '../../../src/control/store.ts';
import { translate, type Translation } from '../../../src/translate/translate.ts';
import { load } from '../load.ts';

const CONFIG = `apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login, namespace: gw-system }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          appUrl: https://app.example.com
          callbackPath: /callback
          clientId: web
          issuerUrl: https://id.example.com/
          clientAuthentication: { clientSecret: { disableClientSecret: true } }
`;
const service = (name: string, domains: string, options = '') => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: gw-system }
spec:
  virtualHost:
    domains: [${domains}]
    ${options}
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`;
const USER = service('shop', 'shop.example.com', 'options: { extauth: { configRef: { name: login } } }');

describe('the host of a login that no virtual service serves', () => {
  const warnings = ({ problems }: Translation) => problems.filter(({ problem }) => problem.message.includes('appUrl'));

  it('is reported of the virtual service, at the field appUrl', () => {
    const [found, ...rest] = warnings(translate(load([CONFIG, USER], createStore())));
    expect(rest).to.deep.equal([]);
    expect(found!.key).to.equal('VirtualService/gw-system/shop');
    expect(found!.problem.severity).to.equal('warning');
    expect(found!.problem.source).to.deep.equal({
      key: 'AuthConfig/gw-system/login',
      path: ['spec', 'configs', 0, 'oauth2', 'oidcAuthorizationCode', 'appUrl'],
    });
  });

  it('is reported as long as no virtual service has the domain', () => {
    const store = createStore();
    const other = (domain: string) => service('other', domain);
    const counts: number[] = [];
    let before: Translation | undefined;
    for (const domain of [
      'b.example.com',
      "'*.example.com'",
      'b.example.com',
      "'APP.example.com:8443'",
      'a.example.com',
    ]) {
      before = translate(load([CONFIG, USER, other(domain)], store), before?.memo);
      counts.push(warnings(before).length);
    }
    expect(counts).to.deep.equal([1, 0, 1, 0, 1]);
    before = translate(load([CONFIG.replace('app.example', 'shop.example'), USER], store), before!.memo);
    expect(warnings(before)).to.deep.equal([]);
  });
});
