import type { ExtAuthServer, OpaServerAuth } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { skipWithoutOpa, startOpa, type OpaServer } from '../../../../test/parts/opa.ts';
import { basic, guarded, only, start, stopAll } from '../harness.ts';

const MODULE = `package test.pets

default allow := false
allow if { startswith(input.http_request.path, "/api/pets"); input.http_request.method == "GET" }
allow if { input.http_request.path == "/api/pets/2"; input.http_request.method in {"GET", "DELETE"} }

rules.first := [allow, "why"]
text := "true"
number := 1
list := ["true"]
empty := []
nested := [[true]]
object := {"allow": true}
`;

describe('opaServerAuth', () => {
  let opa: OpaServer;
  before(async function () {
    opa = await startOpa(await skipWithoutOpa(this), MODULE);
  });
  after(() => opa?.close());
  afterEach(stopAll);

  const guard = (spec: OpaServerAuth, settings: ExtAuthServer = {}) =>
    guarded(only({ opaServerAuth: { serverAddr: opa.address, ...spec } }), { settings });

  it('responds as in the guide', async () => {
    const { ask } = await guard({ package: 'test.pets', ruleName: 'allow' });
    expect(await ask('/api/')).to.include({ status: 403, body: '' });
    expect((await ask('/api/pets')).status).to.equal(200);
    expect((await ask('/api/pets/1', { method: 'DELETE' })).status).to.equal(403);
    expect((await ask('/api/pets/2', { method: 'DELETE' })).status).to.equal(200);
  });

  it('allows only true, and lists that start with true', async () => {
    for (const [ruleName, status] of [
      ['rules/first', 200],
      ['rules/first/0', 200],
      ['rules', 403],
      ['text', 403],
      ['number', 403],
      ['list', 403],
      ['empty', 403],
      ['nested', 403],
      ['object', 403],
      ['object/allow', 200],
      ['missing', 403],
      ['allow?x=1', 403],
      ['', 403],
    ] as const) {
      const { ask } = await guard({ package: 'test.pets', ruleName });
      expect((await ask('/api/pets')).status, ruleName).to.equal(status);
    }
  });

  it('accepts addresses with a scheme, and a package that ends with the rule', async () => {
    const { ask } = await guard({ package: 'test.pets.allow', serverAddr: `http://${opa.address}` });
    expect((await ask('/api/pets')).status).to.equal(200);
  });

  it('denies with 403 within requestTimeout while the server is frozen', async () => {
    const { ask } = await guard({ package: 'test.pets', ruleName: 'allow' }, { requestTimeout: '0.2s' });
    opa.freeze();
    expect(await ask('/api/pets')).to.include({ status: 403, body: '' });
    opa.thaw();
    const patient = await guard({ package: 'test.pets', ruleName: 'allow' });
    expect((await patient.ask('/api/pets')).status).to.equal(200);
  });

  it('denies while the server is down, and never passes a ! because of that', async () => {
    const gone = { package: 'test.pets', ruleName: 'allow', serverAddr: '127.0.0.1:1' };
    expect((await (await guard(gone)).ask('/api/pets')).status).to.equal(403);
    const config = { booleanExpr: '!policy', configs: [{ name: 'policy', opaServerAuth: gone }] };
    expect((await (await guarded(config)).ask('/api/pets')).status).to.equal(403);
  });
});

describe('opaServerAuth with a server of the test', () => {
  const asked: { method?: string; url?: string; body: Record<string, any> }[] = [];
  let reply: { status: number; body: string; headers?: Record<string, string> };
  let serverAddr: string;
  beforeEach(async () => {
    asked.splice(0);
    reply = { status: 200, body: '{"result":true}' };
    serverAddr = await start((req, res) => {
      let text = '';
      req.on('data', (chunk) => (text += chunk));
      req.on('end', () => {
        asked.push({ method: req.method!, url: req.url!, body: JSON.parse(text) });
        res.writeHead(reply.status, reply.headers).end(reply.body);
      });
    });
  });
  afterEach(stopAll);

  it('sends the check request, the HTTP request and the state', async () => {
    const key = { name: 'key', hmacAuth: { secretRefs: { secretRefs: [] } } };
    const basicAuth = { apr: { users: { alice: { salt: 'TYiryv0/', hashedPassword: '8BvzLUO9IfGPGGsPnAgSu1' } } } };
    const opaServerAuth = { package: 'a.b-c', ruleName: 'd/e f', serverAddr };
    const { ask } = await guarded({
      booleanExpr: '(key || login) && policy',
      configs: [key, { name: 'login', basicAuth }, { name: 'policy', opaServerAuth }],
    });
    const headers = { authorization: basic('alice', 'password'), 'x-a': ['1', '2'], constructor: 'x' };
    expect((await ask('/pets?id=1', { headers })).status).to.equal(200);
    const [{ method, url, body } = { body: {} }] = asked;
    expect({ method, url }).to.deep.equal({ method: 'POST', url: '/v1/data/a/b-c/d/e%20f' });
    const { input } = body as { input: Record<string, any> };
    expect(Object.keys(input)).to.deep.equal(['check_request', 'http_request', 'state']);
    expect(input.http_request).to.include({ method: 'GET', path: '/pets?id=1', scheme: 'http', protocol: 'HTTP/1.1' });
    expect(input.http_request.headers).to.include({ ':path': '/pets?id=1', ':method': 'GET', 'x-a': '1,2' });
    expect(input.http_request.headers.constructor).to.equal('x');
    const { attributes } = input.check_request;
    expect(attributes.request.http).to.deep.equal(input.http_request);
    expect(attributes.context_extensions).to.deep.equal({ config_id: 'config' });
    expect(attributes.source.address.socket_address.address).to.match(/127\.0\.0\.1/);
    expect(attributes.metadata_context).to.deep.equal({ filter_metadata: {} });
    expect(input.state).to.equal(null);
  });

  it('passes the state of earlier steps, without lists of other than text if fastInputConversion is set', async () => {
    const state = { jwt: 'a.b.c', roles: ['a', 'b'], numbers: [1], deep: { list: [{ a: 1 }], text: 'x' }, none: null };
    const before = {
      type: 'jwt',
      create: () => ({ local: true, authorize: () => ({ allowed: true, state }) as const }),
    };
    const run = async (fastInputConversion: boolean) => {
      const opaServerAuth = { package: 'a', serverAddr, options: { fastInputConversion } };
      const { ask } = await guarded({ configs: [{ jwt: {} }, { opaServerAuth }] }, { methods: [before] });
      expect((await ask('/')).status).to.equal(200);
      return asked.at(-1)!.body.input.state as unknown;
    };
    expect(await run(false)).to.deep.equal(state);
    expect(await run(true)).to.deep.equal({ jwt: 'a.b.c', roles: ['a', 'b'], deep: { text: 'x' }, none: null });
  });

  for (const [what, bad] of [
    ['another status', { status: 500, body: '{"result":true}' }],
    ['not found', { status: 404, body: '{"result":true}' }],
    ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }],
    ['no JSON', { status: 200, body: 'true' }],
    ['a list', { status: 200, body: '[true]' }],
    ['no result', { status: 200, body: '{}' }],
    ['an empty body', { status: 200, body: '' }],
    ['an endless body', { status: 200, body: `{"result":true,"x":"${'x'.repeat(300_000)}"}` }],
  ] as const) {
    it(`denies with 403 if the server responds with ${what}`, async () => {
      reply = bad;
      const { ask } = await guarded(only({ opaServerAuth: { package: 'a', serverAddr } }));
      expect(await ask('/')).to.include({ status: 403, body: '' });
    });
  }

  it('rejects addresses and names that cannot be used', async () => {
    for (const spec of [
      { package: 'a', serverAddr: 'ftp://a:1' },
      { package: 'a', serverAddr: 'http://a:1/path' },
      { package: 'a', serverAddr: 'http://user@a:1' },
      { package: 'a..b', serverAddr: 'a:1' },
      { package: '', serverAddr: 'a:1' },
      { package: 'a', ruleName: 'b/../c', serverAddr: 'a:1' },
      { package: 'a', ruleName: '/b', serverAddr: 'a:1' },
    ]) {
      const error = await guarded(only({ opaServerAuth: spec })).then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      expect(error, JSON.stringify(spec)).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });
});
