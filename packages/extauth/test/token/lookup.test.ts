import type { ServerResponse } from 'node:http';
import { createContext } from '@edge-gateway/core';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { createLookUp, MAX_CALLS } from '../../src/token/lookup.ts';
import { start, stopAll } from '../harness.ts';

describe('the lookup of access tokens', () => {
  let now: number;
  let asked: number;
  let answer: (res: ServerResponse) => void;
  let introspectionUrl: string;
  beforeEach(async () => {
    now = Date.now();
    asked = 0;
    answer = (res) => void res.end('{"active":true,"sub":"alice","list":[{"a":1}]}');
    introspectionUrl = await start((req, res) => {
      req.resume();
      asked++;
      answer(res);
    });
  });
  afterEach(stopAll);
  const lookUpOf = (more: Partial<AccessTokenValidation> = {}) => {
    const context = createContext({ now: () => now });
    const lookUp = createLookUp({ introspection: { introspectionUrl }, ...more }, 'n.c/step', context);
    return (token: string, client = '192.0.2.1') => lookUp(token, client);
  };

  it('makes one call for many concurrent requests with one token', async () => {
    const lookUp = lookUpOf({ cacheTimeout: '0s' });
    const all = await Promise.all(Array.from({ length: 20 }, () => lookUp('t')));
    expect(asked).to.equal(1);
    for (const each of all) expect(each).to.have.nested.property('claims.sub', 'alice');
    await Promise.all([lookUp('t'), lookUp('u')]);
    expect(asked).to.equal(3);
  });

  it('rejects a token that its issuer rejected for ten seconds without a call', async () => {
    const lookUp = lookUpOf();
    answer = (res) => void res.end('{"active":false}');
    expect(await lookUp('t')).to.equal('the token is not active');
    now += 9_000;
    answer = (res) => void res.end('{"active":true}');
    expect(await lookUp('t')).to.equal('the token is not active');
    expect(await lookUp('other')).to.be.an('object');
    expect(asked).to.equal(2);
    now += 1_001;
    expect(await lookUp('t')).to.be.an('object');
    expect(asked).to.equal(3);
  });

  it('caches the rejection of an unacceptable token, but no failure', async () => {
    const lookUp = lookUpOf();
    answer = (res) => void res.writeHead(400).end();
    for (let i = 0; i < 3; i++) expect(await lookUp('t')).to.contain('rejects the token');
    expect(asked).to.equal(1);
    answer = (res) => void res.writeHead(500).end();
    for (let i = 0; i < 3; i++)
      await lookUp('u').catch((error: unknown) => expect(error).to.have.property('status', 502));
    expect(asked).to.equal(4);
  });

  it('caches no rejection if cacheTimeout is 0s', async () => {
    const lookUp = lookUpOf({ cacheTimeout: '0s' });
    answer = (res) => void res.end('{"active":false}');
    await lookUp('t');
    await lookUp('t');
    expect(asked).to.equal(2);
  });

  it('returns frozen claims', async () => {
    const lookUp = lookUpOf({ userinfoUrl: introspectionUrl });
    for (let i = 0; i < 2; i++) {
      const known = await lookUp('t');
      if (typeof known === 'string') throw new Error(known);
      expect(known.claims).to.be.frozen;
      expect((known.claims['list'] as unknown[])[0]).to.be.frozen;
      expect(known.userInfo).to.be.frozen;
    }
    expect(asked).to.equal(2);
  });

  it('rejects user info of another subject than that of the token', async () => {
    let sub: unknown = 'bob';
    const userinfoUrl = await start((_req, res) => void res.end(JSON.stringify({ sub })));
    const lookUp = lookUpOf({ userinfoUrl });
    for (sub of ['bob', '', 7, null]) expect(await lookUp('t')).to.equal('the user info belongs to another subject');
    for (sub of [undefined, 'alice']) expect(await lookUp(`t-${String(sub)}`)).to.have.property('userInfo');
  });

  const outcomeOf = (looking: Promise<unknown>): Promise<unknown> => looking.catch((error: unknown) => error);

  it('calls again for a long token after user info was rate-limited', async () => {
    let status = 429;
    const userinfoUrl = await start((_req, res) => void res.writeHead(status).end('{}'));
    const lookUp = lookUpOf({ userinfoUrl });
    const long = 'x'.repeat(9_000);
    expect(await outcomeOf(lookUp(long))).to.include({ code: 'ERR_EXTAUTH_ANSWER', answered: 429 });
    status = 200;
    expect(await lookUp(long)).to.have.property('userInfo');
  });

  it('makes calls for a bounded number of tokens at a time', async () => {
    answer = () => {};
    const lookUp = lookUpOf();
    const waiting = Array.from({ length: 2 * MAX_CALLS }, (_, i) =>
      outcomeOf(lookUp(`t${i}`, `10.0.${i >> 8}.${i & 255}`)),
    );
    const refused = await outcomeOf(lookUp('more', '10.1.0.0'));
    expect(refused).to.include({ code: 'ERR_EXTAUTH_REQUEST', status: 429 });
    await stopAll();
    const failed = (await Promise.all(waiting)) as { readonly code: string }[];
    expect(failed.filter(({ code }) => code !== 'ERR_EXTAUTH_REQUEST')).to.have.length(MAX_CALLS);
  });

  for (const [name, client, other] of [
    ['an IPv4 address', () => '192.0.2.1', '192.0.2.2'],
    ['an IPv6 network', (i: number) => `2001:db8::${i.toString(16)}`, '2001:db8:0:1::1'],
  ] as const) {
    it(`makes calls for the tokens of others while ${name} sends invalid tokens`, async () => {
      answer = () => {};
      const lookUp = lookUpOf();
      const waiting = Array.from({ length: MAX_CALLS }, (_, i) => outcomeOf(lookUp(`t${i}`, client(i))));
      expect(await outcomeOf(lookUp('own', client(MAX_CALLS)))).to.include({
        code: 'ERR_EXTAUTH_REQUEST',
        status: 429,
      });
      answer = (res) => void res.end('{"active":true,"sub":"alice"}');
      expect(await lookUp('good', other)).to.have.nested.property('claims.sub', 'alice');
      await stopAll();
      await Promise.all(waiting);
    });
  }

  it('makes calls for tokens of a client again after its calls have ended', async () => {
    const lookUp = lookUpOf({ cacheTimeout: '0s' });
    for (let round = 0; round < 3; round++) {
      const half = Array.from({ length: MAX_CALLS / 2 }, (_, i) => lookUp(`t${i}`));
      for (const known of await Promise.all(half)) expect(known).to.have.nested.property('claims.sub', 'alice');
    }
  });

  it('throws for an http address of another machine, unless the resource allows it', () => {
    const make = (spec: AccessTokenValidation) => () => createLookUp(spec, 'n.c/step', createContext());
    const far = 'http://id.cluster.local/x';
    const near = 'http://127.0.0.1/x';
    const specs: AccessTokenValidation[] = [
      { introspection: { introspectionUrl: far } },
      { introspectionUrl: far },
      { introspectionUrl: near, userinfoUrl: far },
      { jwt: { remoteJwks: { url: far } } },
    ];
    for (const spec of specs) {
      expect(make(spec), JSON.stringify(spec))
        .to.throw('must be an https address')
        .with.property('code', 'ERR_EXTAUTH_CONFIG');
      expect(make({ ...spec, allowHttp: true }), JSON.stringify(spec)).not.to.throw();
      const secure = JSON.parse(JSON.stringify(spec).replaceAll('http:', 'https:')) as AccessTokenValidation;
      expect(make(secure), JSON.stringify(secure)).not.to.throw();
    }
    expect(make({ introspectionUrl: 'https://user:pw@id.example.com' })).to.throw('must be an https address');
  });
});
