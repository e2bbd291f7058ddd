import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayError, createContext } from '@edge-gateway/core';
import { groupIds, type Reply } from '../../../../test/parts/microsoft.ts';
import { azureGroups } from '../../src/index.ts';
import { createGroupMemory } from '../../src/groups/memory.ts';
import { BLOCK, OID, SECRET, TENANT, startCloud, type Cloud } from './harness.ts';

const failureOf = async (asked: Promise<unknown>): Promise<GatewayError> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, 'no groups, no error').to.be.instanceOf(GatewayError);
  expect(error).to.include({ code: 'ERR_OIDC_GROUPS_UNAVAILABLE', status: 503 });
  return error as GatewayError;
};

describe('groups that Microsoft Entra leaves out of a token', () => {
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

  it('are read where `hasgroups` says that there are some', async () => {
    const implicit = cloud.claims({ _claim_names: undefined, hasgroups: true });
    expect((await cloud.lookup().complete(implicit)).groups).to.have.length(250);
  });

  it('are not asked for where nothing was left out', async () => {
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

  it('are never asked for at the address in the token', async () => {
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

  it('are asked for once by a hundred requests, and kept until the token ends', async () => {
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

  it('are asked for again for a later token, and for another user', async () => {
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

  it('cost one token of the application until shortly before it ends', async () => {
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

  it('are read with another token once where the kept one was revoked', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    await lookup.complete(cloud.claims({ iat: 1 }));
    microsoft.token = () => ({ body: { access_token: 'another', expires_in: 3599 } });
    microsoft.graph = ({ headers }) =>
      headers.authorization === 'Bearer another' ? { body: { value: ['a'] } } : { status: 401 };
    expect((await lookup.complete(cloud.claims({ iat: 2 }))).groups).to.deep.equal(['a']);
    expect(microsoft.tokenCalls).to.have.length(2);
  });

  it('may be as many as Graph gives', async () => {
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
    it(`are refused where they go on at ${name}`, async () => {
      cloud.microsoft.graph = () => ({ body: { value: ['a'], '@odata.nextLink': link() } });
      const { message } = await failureOf(cloud.lookup().complete(cloud.claims()));
      expect(message).to.contain('another server');
      expect([cloud.microsoft.tokenCalls.length, cloud.microsoft.graphCalls.length]).to.deep.equal([1, 1]);
    });

  it('are refused where the pages do not end', async () => {
    const { microsoft } = cloud;
    microsoft.graph = () => ({ body: { value: ['a'], '@odata.nextLink': `${microsoft.addresses.graph}/again` } });
    expect((await failureOf(cloud.lookup().complete(cloud.claims()))).message).to.contain('too many pages');
    expect(microsoft.graphCalls).to.have.length(20);
  });

  const denied = { error: { code: 'Authorization_RequestDenied', message: `${SECRET} says more` } };
  const graphFailures: Record<string, readonly [Reply, RegExp]> = {
    400: [{ status: 400, body: { error: { code: 'Directory_ResultSizeLimitExceeded' } } }, /400 Directory_ResultSize/],
    401: [{ status: 401, body: { error: { code: 'InvalidAuthenticationToken' } } }, /401 InvalidAuthenticationToken/],
    403: [{ status: 403, body: denied }, /403 Authorization_RequestDenied; the application needs/],
    404: [{ status: 404, body: { error: { code: 'Request_ResourceNotFound' } } }, /404/],
    429: [{ status: 429 }, /429/],
    500: [{ status: 500, body: `<h1>${SECRET}</h1>` }, /status 500$/],
    'a redirect': [{ status: 302, headers: { location: 'https://example.com' } }, /302/],
    'a page of HTML': [{ body: '<html></html>' }, /not a JSON object/],
    'half an answer': [{ body: { value: groupIds(250) }, isCut: true }, /cannot be reached/],
    'half of the JSON': [{ body: '{"value":["a"' }, /not a JSON object/],
    'a list': [{ body: ['a'] }, /not a JSON object/],
    'no list of ids': [{ body: { value: 'a' } }, /no list of ids/],
    'ids that are none': [{ body: { value: ['a', { id: 'b' }] } }, /no list of ids/],
    'more than 512 KiB': [{ body: { value: groupIds(14_000) } }, /512 KiB/],
  };
  const tokenFailures: Record<string, readonly [Reply, RegExp]> = {
    401: [{ status: 401, body: { error: 'invalid_client', error_description: SECRET } }, /401 invalid_client$/],
    400: [{ status: 400, body: { error: `evil\n${'x'.repeat(999)}` } }, /400 evil_x{55}$/],
    500: [{ status: 500, body: 'oops' }, /500/],
    'a page of HTML': [{ body: '<html></html>' }, /not a JSON object/],
    'no token': [{ body: { token_type: 'Bearer' } }, /no token/],
    'a token that breaks a header': [{ body: { access_token: 'a\r\nx: y' } }, /no token/],
  };

  for (const [name, [reply, why]] of Object.entries(graphFailures))
    it(`are refused, and never taken for none, where Graph answers ${name}`, async () => {
      cloud.microsoft.graph = () => reply;
      const { message } = await failureOf(cloud.lookup().complete(cloud.claims()));
      expect(message).to.match(why).and.not.contain(SECRET).and.not.contain('the-app-token');
    });

  for (const [name, [reply, why]] of Object.entries(tokenFailures))
    it(`are refused where the answer for a token is ${name}`, async () => {
      cloud.microsoft.token = () => reply;
      const { message } = await failureOf(cloud.lookup().complete(cloud.claims()));
      expect(message).to.match(why).and.not.contain(SECRET);
      expect(cloud.microsoft.graphCalls).to.have.length(0);
    });

  it('are refused where nobody answers', async () => {
    const lookup = cloud.lookup();
    await cloud.microsoft.close();
    expect((await failureOf(lookup.complete(cloud.claims()))).message).to.contain('cannot be reached');
  });

  it('are refused where Graph is slow, after 5 seconds', async function () {
    this.timeout(20_000);
    const over = new AbortController();
    cloud.microsoft.graph = () =>
      new Promise((resolve) => over.signal.addEventListener('abort', () => resolve({ body: {} })));
    const begun = performance.now();
    expect((await failureOf(cloud.lookup().complete(cloud.claims()))).message).to.contain('no answer in time');
    expect(performance.now() - begun).to.be.within(4000, 15_000);
    over.abort();
  });

  it('are asked for again a second after they could not be read', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    microsoft.graph = () => ({ status: 500 });
    await Promise.all(Array.from({ length: 20 }, () => failureOf(lookup.complete(cloud.claims()))));
    await failureOf(lookup.complete(cloud.claims()));
    expect(microsoft.graphCalls).to.have.length(1);
    microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock += 1001;
    expect((await lookup.complete(cloud.claims())).groups).to.deep.equal(['a']);
  });

  it('are asked for no sooner than Graph wants, but after a minute', async () => {
    const { microsoft } = cloud;
    const lookup = cloud.lookup();
    microsoft.graph = () => ({ status: 429, headers: { 'retry-after': '7200' } });
    await failureOf(lookup.complete(cloud.claims({ iat: 1 })));
    microsoft.graph = () => ({ body: { value: ['a'] } });
    cloud.clock += 59_000;
    expect((await failureOf(lookup.complete(cloud.claims({ iat: 2 })))).message).to.contain('asked not to be called');
    expect(microsoft.graphCalls).to.have.length(1);
    cloud.clock += 2000;
    expect((await lookup.complete(cloud.claims({ iat: 1 }))).groups).to.deep.equal(['a']);
  });

  const strangers: Record<string, Record<string, unknown>> = {
    'names nobody': { oid: undefined },
    'names a path': { oid: '../../me' },
    'names a list': { oid: [OID] },
    'is of another tenant': { tid: TENANT.replace('8d', '9d') },
  };
  for (const [name, more] of Object.entries(strangers))
    it(`are refused where the token ${name}`, async () => {
      await failureOf(cloud.lookup().complete(cloud.claims(more)));
      expect(cloud.microsoft.tokenCalls).to.have.length(0);
    });

  it('need a secret, all fields and an address that may carry tokens', () => {
    expect(() => cloud.lookup({ clientSecret: { name: 'missing' } })).to.throw(/gw-system.missing/);
    expect(() => cloud.lookup({ clientSecret: { name: 'empty' } })).to.throw(/client-secret/);
    expect(() => cloud.lookup({ clientId: '' })).to.throw(/clientId/);
    const { secrets } = cloud.context();
    const context = createContext({
      secrets,
      azure: { login: 'http://login.example', graph: 'https://graph.example' },
    });
    expect(() => azureGroups(BLOCK, { context })).to.throw(/not https/);
  });
});

describe('the memory of groups', () => {
  it('is bounded by all ids together; what was unused for longest goes first', () => {
    let now = 0;
    const memory = createGroupMemory(() => now, 10);
    memory.set('a', ['1', '2', '3'], 100);
    memory.set('b', ['1', '2'], 100);
    memory.get('a');
    memory.set('c', ['1', '2', '3', '4'], 50);
    expect(['a', 'b', 'c'].map((key) => memory.get(key)?.length)).to.deep.equal([3, undefined, 4]);
    memory.set('c', [], 50);
    expect(memory.get('c')).to.deep.equal([]);
    now = 50;
    expect(memory.get('c')).to.equal(undefined);
    memory.set('d', ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'], 100);
    expect([memory.get('a'), memory.get('d')]).to.deep.equal([undefined, undefined]);
  });
});
