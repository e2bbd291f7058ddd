import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { factsOf, type Facts, type VirtualHost } from '@edge-gateway/core';
import type { JwtProviders, Rbac } from '@edge-gateway/core/schema';
import { explainAccess, JWT_STATUS, type AccessLevels } from '../src/index.ts';
import { createIssuer, ISSUER, NOW, seconds, type Issuer } from './issuer.ts';

describe('an explanation of access', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });

  const main = { issuer: ISSUER };
  const block = (more: JwtProviders = {}): JwtProviders => ({ providers: { main }, ...more });
  const rbac: Rbac = { policies: { admins: { principals: [{ jwtPrincipal: { claims: { role: 'admin' } } }] } } };
  const ask = (host: object, { headers = [] as string[], path = '/', claims = undefined as object | undefined } = {}) =>
    explainAccess(
      { levels: [host as { rbac?: Rbac }, {}], requireRbac: false },
      { facts: factsWith(path, headers), now: NOW, ...(claims && { claims: claims as Record<string, unknown> }) },
    );
  const factsWith = (path: string, headers: string[]): Facts => {
    const facts = factsOf(Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: path }));
    facts.headers = headers;
    return facts;
  };

  it('is empty for a route without access checks', () => {
    expect(ask({})).to.deep.equal({ jwt: [] });
    expect(ask({ rbac: { disable: true } })).to.deep.equal({ jwt: [] });
  });

  it('denies requests if the Settings require policies and none exist', () => {
    const request = { facts: factsWith('/', []), now: NOW };
    const { rbac: decision } = explainAccess({ levels: [{}, {}], requireRbac: true }, request);
    expect(decision).to.deep.equal({ allowed: false, reason: 'no policy is configured' });
  });

  it('reads the token from the sources of the provider', async () => {
    const token = await issuer.sign({ role: 'admin' });
    for (const request of [{ headers: ['authorization', `Bearer ${token}`] }, { path: `/?access_token=${token}` }]) {
      const { jwt, rbac: decision } = ask({ jwt: block(), rbac }, request);
      expect(jwt[0]).to.include({ stage: 'after external auth', passes: true });
      expect(decision).to.deep.equal({ allowed: true, policy: 'admins' });
    }
    const elsewhere = ask({ jwt: block(), rbac }, { headers: ['x-token', token] });
    expect(elsewhere.jwt[0]).to.include({ passes: false });
    expect(elsewhere.rbac).to.include({ allowed: false, closest: 'admins', reason: 'no verified token' });
  });

  it('requires every token of a provider to be valid, in any source', async () => {
    const [good, expired] = await Promise.all([600, -100].map((end) => issuer.sign({ exp: seconds(end) })));
    const asked = (first: string, second: string) =>
      ask({ jwt: block() }, { headers: ['authorization', `Bearer ${first}`], path: `/?access_token=${second}` });
    for (const { jwt, refusal } of [asked(expired!, good!), asked(good!, expired!)]) {
      expect(jwt[0]!.providers).to.deep.equal([{ provider: 'main', accepts: false, reason: 'Jwt is expired' }]);
      expect(refusal).to.deep.equal({ status: 401, body: 'Jwt is expired' });
    }
    expect(asked(good!, good!).refusal).to.equal(undefined);
  });

  describe('records on the facts what JWT changes', () => {
    const claimsToHeaders = [{ claim: 'email', header: 'X-Email' }];
    const changed = async (more: object, request: { headers?: string[]; path?: string; claims?: object }) => {
      const facts = factsWith(request.path ?? '/', request.headers ?? []);
      explainAccess(
        {
          levels: [{ jwt: block({ providers: { main: { ...main, claimsToHeaders, ...more } } }) } as object, {}],
          requireRbac: false,
        },
        { facts, now: NOW, ...(request.claims && { claims: request.claims as Record<string, unknown> }) },
      );
      return facts;
    };

    it('the claim headers, and that a client cannot send them', async () => {
      const facts = await changed({}, { headers: ['x_email', 'forged'], claims: { email: 'a@b' } });
      expect(facts.requestChanges).to.deep.equal([
        { op: 'remove', name: 'x_email' },
        { op: 'set', name: 'x-email', value: 'a@b' },
      ]);
    });

    it('that the token is removed from headers and query, unless it is kept', async () => {
      const token = await issuer.sign({ email: 'a@b' });
      const request = { headers: ['authorization', `Bearer ${token}`], path: `/x?access_token=${token}&b=1` };
      const facts = await changed({}, request);
      expect(facts.path).to.equal('/x?b=1');
      expect(facts.header('authorization')).to.equal(undefined);
      const kept = await changed({ keepToken: true }, request);
      expect(kept.path).to.equal(request.path);
      expect(kept.header('authorization')).to.equal(`Bearer ${token}`);
    });
  });

  for (const [what, host, headers, refusal] of [
    ['no token', { jwt: { providers: { main } } }, [], { status: 401, body: 'Jwt is missing' }],
    ['no policy', { rbac: {} }, [], { status: 403, body: 'RBAC: access denied' }],
    [
      'a token that is none',
      { jwt: { providers: { other: { issuer: 'else' }, main } } },
      ['authorization', 'Bearer x'],
      { status: 401, body: JWT_STATUS.badForm.text },
    ],
  ] as const) {
    it(`shows the response to ${what}`, () => {
      expect(ask(host, { headers: [...headers] }).refusal).to.deep.equal(refusal);
    });
  }

  it('uses the policies of the route selected by the claims, and each of its remaining stages', async () => {
    const claimsToHeaders = [{ claim: 'tier', header: 'x-tier' }];
    const host = { jwt: block({ providers: { main: { ...main, claimsToHeaders } } }) };
    const gold = {
      rbac: { policies: { gold: {} } },
      jwtProvidersStaged: { beforeExtAuth: { providers: { outer: {} } } },
    };
    const facts = factsWith('/', ['authorization', `Bearer ${await issuer.sign({ tier: 'gold' })}`]);
    const next = { levels: [host, gold] as unknown as AccessLevels };
    const explained = explainAccess(
      { levels: [host as object, {}], requireRbac: false },
      { facts, now: NOW, reroute: () => (facts.header('x-tier') === 'gold' ? next : undefined) },
    );
    expect(explained.rerouted).to.equal(true);
    expect(explained.jwt.map(({ stage, passes }) => [stage, passes])).to.deep.equal([
      ['after external auth', true],
      ['before external auth', false],
    ]);
    expect(explained.rbac).to.deep.equal({ allowed: true, policy: 'gold' });
    expect(explained.refusal).to.include({ status: 401 });
  });

  describe('on a route without jwt of its own', () => {
    const claimsToHeaders = [{ claim: 'tier', header: 'X-Tier' }];
    const guarded = {
      jwtProvidersStaged: { afterExtAuth: block({ providers: { main: { ...main, claimsToHeaders } } }) },
    };
    const virtualHost = { options: {}, routes: [{ options: {} }, { options: guarded }] } as unknown as VirtualHost;

    it('removes and reports client values of the claim headers of the virtual host', () => {
      const facts = factsWith('/', ['x_tier', 'gold', 'x-tier', 'gold', 'x-other', '1']);
      const explained = explainAccess({ levels: [{}, {}], requireRbac: false, virtualHost }, { facts, now: NOW });
      expect(explained).to.deep.equal({ removedHeaders: ['x_tier', 'x-tier'], jwt: [] });
      expect([facts.header('x_tier'), facts.header('x-tier'), facts.header('x-other')]).to.deep.equal([
        undefined,
        undefined,
        '1',
      ]);
    });

    it('continues with the route selected without them', () => {
      const facts = factsWith('/', ['x-tier', 'gold']);
      const closed = [{}, { rbac: {} }] as unknown as AccessLevels;
      const explained = explainAccess(
        { levels: [{}, {}], requireRbac: false, virtualHost },
        { facts, now: NOW, reroute: () => ({ levels: closed }) },
      );
      expect(explained).to.include({ rerouted: true }).and.have.nested.property('refusal.status', 403);
    });

    it('reports nothing if the client sent none', () => {
      const facts = factsWith('/', ['x-other', '1']);
      const explained = explainAccess({ levels: [{}, {}], requireRbac: false, virtualHost }, { facts, now: NOW });
      expect(explained).to.deep.equal({ jwt: [] });
    });
  });

  it('shows both stages with the results of their providers', async () => {
    const headers = ['authorization', `Bearer ${await issuer.sign({ exp: seconds(-100) })}`];
    const staged = { jwtStaged: { beforeExtAuth: block(), afterExtAuth: block({ providers: { main: {} } }) } };
    const { jwt } = ask(staged, { headers });
    expect(jwt.map(({ stage }) => stage)).to.deep.equal(['before external auth', 'after external auth']);
    expect(jwt[0]!.providers).to.deep.equal([{ provider: 'main', accepts: false, reason: 'Jwt is expired' }]);
  });

  for (const [policy, missing, failed] of [
    ['REQUIRE_VALID', false, false],
    ['ALLOW_MISSING', true, false],
    ['ALLOW_MISSING_OR_FAILED', true, true],
  ] as const) {
    it(`shows what ${policy} allows`, () => {
      const host = { jwt: block({ validationPolicy: policy }) };
      expect(ask(host).jwt[0]!.passes).to.equal(missing);
      expect(ask(host, { headers: ['authorization', 'Bearer x'] }).jwt[0]!.passes).to.equal(failed);
    });
  }

  it('runs early transformations after external auth and before tokens, and regular ones after policies', async () => {
    const token = await issuer.sign({ role: 'admin' });
    const early = { providers: { main: { tokenSource: { headers: [{ header: 'x-early' }] } } } };
    const host = { jwtStaged: { beforeExtAuth: early, afterExtAuth: block() }, rbac };
    const facts = factsWith('/', ['x-early', token]);
    const met: string[] = [];
    const explained = explainAccess(
      { levels: [host as object, {}], requireRbac: false },
      {
        facts,
        now: NOW,
        transform(stage) {
          met.push(`${stage}: ${facts.claims.size}`);
          facts.requestChanges.push({ op: 'set', name: 'authorization', value: `Bearer ${token}` });
          return undefined;
        },
      },
    );
    expect(explained).to.not.have.property('refusal');
    expect(explained.jwt.map(({ passes }) => passes)).to.deep.equal([true, true]);
    expect(met).to.deep.equal(['early: 1', 'regular: 1']);
  });

  it('runs no transformation after a rejection, and rejects what cannot be transformed', () => {
    const request = { facts: factsWith('/', []), now: NOW };
    const met: string[] = [];
    const rules = { levels: [{ rbac: {} }, {}] as AccessLevels, requireRbac: false };
    const denied = explainAccess(rules, { ...request, transform: (stage) => void met.push(stage) });
    expect(denied.refusal).to.include({ status: 403 });
    expect(met).to.deep.equal(['early']);
    const refusal = { status: 400, body: 'bad', reason: 'undefined' } as const;
    expect(explainAccess(rules, { ...request, transform: () => refusal }).refusal).to.deep.equal(refusal);
  });

  it('treats the given claims as verified, except for their issuer', () => {
    expect(ask({ jwt: block(), rbac }, { claims: { role: 'admin' } }).rbac).to.include({ allowed: true });
    const other = ask({ jwt: block(), rbac }, { claims: { role: 'admin', iss: 'https://else.test' } });
    expect(other.jwt[0]).to.include({ passes: false });
    expect(other.rbac).to.include({ allowed: false });
  });
});
