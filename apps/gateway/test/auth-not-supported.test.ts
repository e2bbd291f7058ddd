import { expect } from 'chai';
import { protect } from './protection.ts';

const host = (virtualHost: string, route: string, destination = ''): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { ${virtualHost} }
    routes:
      - matchers: [{ prefix: / }]
        options: { ${route} }
        routeAction:
          multi:
            destinations:
              - { weight: 1, destination: { upstream: { name: echo } }, options: { ${destination} } }
`;
const authConfig = (step: string): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: guard, namespace: gw-system }
spec: { configs: [{ ${step} }] }
`;
const GUARD = 'extauth: { configRef: { name: guard } }';
const GOOD = [
  authConfig('basicAuth: { apr: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } } }'),
  host(GUARD, ''),
].join('---\n');
const basic = { authorization: `Basic ${Buffer.from('alice:password').toString('base64')}` };

/** Every place of a server reference, and steps of methods that are not there: what is written, and who is refused. */
const CASES: readonly [what: string, resources: string, kind: string, name: string][] = [
  ['customAuth on a virtual host', host('extauth: { customAuth: { name: own } }', ''), 'VirtualService', 'shop'],
  ['customAuth on a route', host('', 'extauth: { customAuth: {} }'), 'VirtualService', 'shop'],
  [
    'customAuth with extensions on a route',
    host('', 'extauth: { customAuth: { contextExtensions: { a: b } } }'),
    'VirtualService',
    'shop',
  ],
  ['customAuth on a destination', host('', '', 'extauth: { customAuth: {} }'), 'VirtualService', 'shop'],
  ...[
    'apiKeyAuth: { aerospikeApikeyStorage: { hostname: keys.example.com } }',
    'pluginAuth: { name: a }',
    'oauth: { appUrl: "https://a.example.com" }',
    'portalAuth: { url: "https://a.example.com" }',
  ].map((step): [string, string, string, string] => [
    step,
    [authConfig(step), host(GUARD, '')].join('---\n'),
    'AuthConfig',
    'guard',
  ]),
];

describe('external auth that is not supported yet', () => {
  for (const [what, resources, kind, name] of CASES) {
    it(`is rejected at startup and serves nothing: ${what}`, async () => {
      const gateway = await protect(resources);
      expect(gateway.state(kind, name)).to.equal('Rejected');
      expect((await gateway.ask('/', basic)).status).to.equal(404);
      expect(gateway.reached()).to.equal(0);
      await gateway.close();
    });

    it(`is rejected, and the last good version stays in use: ${what}`, async () => {
      const gateway = await protect(GOOD);
      expect((await gateway.ask('/', basic)).status).to.equal(200);
      gateway.source.set('resources', resources);
      expect(gateway.state(kind, name)).to.equal('Rejected');
      expect((await gateway.ask('/')).status).to.equal(401);
      expect(gateway.reached()).to.equal(1);
      await gateway.close();
    });
  }

  it('namedExtauth in Settings is rejected, and the auth configs stay in use', async () => {
    const settings = `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { namedExtauth: { own: { failureModeAllow: true } }, extauth: { failureModeAllow: true } }
`;
    const gateway = await protect([GOOD, settings].join('---\n'));
    expect(gateway.state('Settings', 'default')).to.equal('Rejected');
    expect((await gateway.ask('/')).status).to.equal(401);
    expect((await gateway.ask('/', basic)).status).to.equal(200);
    await gateway.close();
  });
});
