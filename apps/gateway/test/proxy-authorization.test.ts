import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

const RESOURCES = `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: staff, namespace: gw-system }
spec:
  configs:
    - basicAuth:
        encryption: { apr: {} }
        userList: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: staff, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;
const credentials = (text: string) => ({ 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` });

describe('Proxy-Authorization', () => {
  let gateway: Protected;
  before(async () => (gateway = await protect(RESOURCES)));
  after(() => gateway.close());

  it('accepts the password, and never reaches the upstream', async () => {
    const { status, body } = await gateway.ask('/', credentials('alice:password'));
    expect(status).to.equal(200);
    expect((JSON.parse(body) as { headers: object }).headers).to.not.have.property('proxy-authorization');
  });

  it('rejects other credentials', async () => {
    expect((await gateway.ask('/', credentials('alice:wrong'))).status).to.equal(401);
    expect((await gateway.ask('/')).status).to.equal(401);
    expect(
      (await gateway.ask('/', { proxy_authorization: credentials('alice:password')['proxy-authorization'] })).status,
    ).to.equal(401);
  });
});
