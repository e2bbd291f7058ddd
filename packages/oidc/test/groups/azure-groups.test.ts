import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { groupIds } from '../../../../test/parts/microsoft.ts';
import { azureGroups } from '../../src/index.ts';
import { BLOCK, OID, SECRET, TENANT, failureOf, startCloud, type Cloud } from './harness.ts';

describe('groups that Microsoft Entra omits from a token', () => {
  let cloud: Cloud;
  beforeEach(async () => {
    cloud = await startCloud();
  });
  afterEach(() => cloud.close());

  it('are read from Graph with a token of the application', async () => {
    const { microsoft } = cloud;
    const claims = cloud.claims({ email: 'a@example.com' });
    const completed = await cloud.lookup().complete(claims);
    expect(completed).to.deep.equal({ ...claims, groups: groupIds(250) });
    expect(claims).not.to.have.property('groups');
    const [asked] = microsoft.tokenCalls;
    expect(asked).to.include({ method: 'POST', path: `/${TENANT}/oauth2/v2.0/token` });
    expect(asked!.headers['content-type']).to.equal('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(asked!.body))).to.deep.equal({
      grant_type: 'client_credentials',
      client_id: 'groups-reader',
      client_secret: SECRET,
      scope: `${microsoft.addresses.graph}/.default`,
    });
    const [read] = microsoft.graphCalls;
    expect(read).to.include({ method: 'POST', path: `/v1.0/users/${OID}/getMemberObjects` });
    expect(read!.headers).to.include({ authorization: 'Bearer the-app-token', 'content-type': 'application/json' });
    expect(JSON.parse(read!.body)).to.deep.equal({ securityEnabledOnly: false });
  });

  it('are read if `hasgroups` indicates them', async () => {
    const implicit = cloud.claims({ _claim_names: undefined, hasgroups: true });
    expect((await cloud.lookup().complete(implicit)).groups).to.have.length(250);
  });

  it('are not requested if none were omitted', async () => {
    const lookup = cloud.lookup();
    for (const claims of [
      { sub: 'x', groups: ['a'] },
      { sub: 'x' },
      { sub: 'x', oid: OID, _claim_names: { photo: 'src1' } },
      { sub: 'x', oid: OID, _claim_names: null },
      { sub: 'x', oid: OID, groups: ['a'], hasgroups: true },
    ])
      expect(await lookup.complete(claims)).to.equal(claims);
    expect(cloud.microsoft.tokenCalls).to.have.length(0);
  });

  it('are never requested from the URL in the token', async () => {
    let calls = 0;
    const stranger = createServer((_req, res) => {
      calls++;
      res.end(JSON.stringify({ value: ['admins'] }));
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/getMemberObjects`;
    const completed = await cloud.lookup().complete(cloud.claims({ _claim_sources: { src1: { endpoint } } }));
    stranger.closeAllConnections();
    await new Promise((resolve) => stranger.close(resolve));
    expect(completed.groups).to.deep.equal(groupIds(250));
    expect(calls).to.equal(0);
  });

  it('are requested once for a hundred requests, and cached until the token expires', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    const all = await Promise.all(Array.from({ length: 100 }, () => lookup.complete(cloud.claims())));
    expect(new Set(all.map(({ groups }) => groups)).size).to.equal(1);
    cloud.clock += 3_600_000;
    await lookup.complete(cloud.claims());
    expect([microsoft.tokenCalls.length, microsoft.graphCalls.length]).to.deep.equal([1, 1]);
    cloud.clock += 61_000;
    await lookup.complete(cloud.claims());
    expect(microsoft.graphCalls).to.have.length(2);
  });

  it('are requested again for a later token, and for another user', async () => {
    const lookup = cloud.lookup();
    const { iat, exp } = cloud.claims() as { iat: number; exp: number };
    await lookup.complete(cloud.claims());
    cloud.microsoft.graph = () => ({ body: { value: ['new'] } });
    expect((await lookup.complete(cloud.claims({ iat: iat + 1, exp: exp + 1 }))).groups).to.deep.equal(['new']);
    const other = OID.replace('1111', '9999');
    expect((await lookup.complete(cloud.claims({ oid: other }))).groups).to.deep.equal(['new']);
    expect(cloud.microsoft.graphCalls.at(-1)!.path).to.contain(other);
    expect((await lookup.complete(cloud.claims())).groups).to.have.length(250);
  });

  it('outlive a reload of the configuration', async () => {
    const context = cloud.context();
    await cloud.lookup({}, context).complete(cloud.claims());
    await cloud.lookup({}, context).complete(cloud.claims());
    expect(cloud.microsoft.graphCalls).to.have.length(1);
  });

  it('require one application token until shortly before it expires', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    const login = (n: number) => lookup.complete(cloud.claims({ iat: n }));
    await login(1);
    cloud.clock += 3_500_000;
    await login(2);
    expect(microsoft.tokenCalls).to.have.length(1);
    cloud.clock += 45_000;
    await login(3);
    expect(microsoft.tokenCalls).to.have.length(2);
  });

  it('are read with a new token once if the cached one was revoked', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    await lookup.complete(cloud.claims({ iat: 1 }));
    microsoft.token = () => ({ body: { access_token: 'another', expires_in: 3599 } });
    microsoft.graph = ({ headers }) =>
      headers.authorization === 'Bearer another' ? { body: { value: ['a'] } } : { status: 401 };
    expect((await lookup.complete(cloud.claims({ iat: 2 }))).groups).to.deep.equal(['a']);
    expect(microsoft.tokenCalls).to.have.length(2);
  });

  it('may be as many as Graph returns', async () => {
    cloud.microsoft.graph = () => ({ body: { value: groupIds(11_000) } });
    expect((await cloud.lookup().complete(cloud.claims())).groups).to.have.length(11_000);
  });

  it('are read page by page from the same server', async () => {
    const { microsoft } = cloud;
    const next = `${microsoft.addresses.graph}/v1.0/more?$skiptoken=2`;
    microsoft.graph = ({ path }) =>
      path.startsWith('/v1.0/more')
        ? { body: { value: ['b', 'c'] } }
        : { body: { value: ['a', 'b'], '@odata.nextLink': next } };
    expect((await cloud.lookup().complete(cloud.claims())).groups).to.deep.equal(['a', 'b', 'c']);
    expect(microsoft.graphCalls[1]).to.include({ method: 'GET', path: '/v1.0/more?$skiptoken=2' });
    expect(microsoft.graphCalls[1]!.headers.authorization).to.equal('Bearer the-app-token');
  });

  const pages: Record<string, () => string> = {
    'another server': () => cloud.microsoft.addresses.login,
    'a host that begins alike': () => `${cloud.microsoft.addresses.graph}.example.com/`,
    'the same host as user': () => cloud.microsoft.addresses.graph.replace('http://', 'http://graph@'),
    'no address': () => 'more',
  };
  for (const [name, link] of Object.entries(pages))
    it(`are rejected if the next page is ${name}`, async () => {
      cloud.microsoft.graph = () => ({ body: { value: ['a'], '@odata.nextLink': link() } });
      const { message } = await failureOf(cloud.lookup().complete(cloud.claims()));
      expect(message).to.contain('another server');
      expect([cloud.microsoft.tokenCalls.length, cloud.microsoft.graphCalls.length]).to.deep.equal([1, 1]);
    });

  it('are rejected if there are endless pages', async () => {
    const { microsoft } = cloud;
    microsoft.graph = () => ({ body: { value: ['a'], '@odata.nextLink': `${microsoft.addresses.graph}/again` } });
    expect((await failureOf(cloud.lookup().complete(cloud.claims()))).message).to.contain('too many pages');
    expect(microsoft.graphCalls).to.have.length(20);
  });

  it('require a secret, all fields and trusted URLs', () => {
    expect(() => cloud.lookup({ clientSecret: { name: 'missing' } })).to.throw(/gw-system.missing/);
    expect(() => cloud.lookup({ clientSecret: { name: 'empty' } })).to.throw(/client-secret/);
    expect(() => cloud.lookup({ clientId: '' })).to.throw(/clientId/);
    const { secrets } = cloud.context();
    const context = createContext({
      secrets,
      azure: { login: 'http://login.example', graph: 'https://graph.example' },
    });
    expect(() => azureGroups(BLOCK, { context })).to.throw(/must use https/);
  });
});
