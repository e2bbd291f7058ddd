import { expect } from 'chai';
import type { JwtProviders, Rbac } from '@edge-gateway/core/schema';
import { explainAccess } from '../src/index.ts';
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
      { method: 'GET', path, headers, now: NOW, ...(claims && { claims: claims as Record<string, unknown> }) },
    );

  it('says nothing where nothing guards', () => {
    expect(ask({})).to.deep.equal({ jwt: [] });
    expect(ask({ rbac: { disable: true } })).to.deep.equal({ jwt: [] });
  });

  it('denies where the Settings want policies and there are none', () => {
    const request = { method: 'GET', path: '/', headers: [], now: NOW };
    const { rbac: decision } = explainAccess({ levels: [{}, {}], requireRbac: true }, request);
    expect(decision).to.deep.equal({ allowed: false, reason: 'there is no policy' });
  });

  it('takes the token from where the provider looks for it', async () => {
    const token = await issuer.sign({ role: 'admin' });
    for (const request of [{ headers: ['authorization', `Bearer ${token}`] }, { path: `/?access_token=${token}` }]) {
      const { jwt, rbac: decision } = ask({ jwt: block(), rbac }, request);
      expect(jwt[0]).to.include({ stage: 'after external auth', passes: true });
      expect(decision).to.deep.equal({ allowed: true, policy: 'admins' });
    }
    const elsewhere = ask({ jwt: block(), rbac }, { headers: ['x-token', token] });
    expect(elsewhere.jwt[0]).to.include({ passes: false });
    expect(elsewhere.rbac).to.include({ allowed: false, closest: 'admins', reason: 'there is no verified token' });
  });

  it('shows both stages, each with what its providers say', async () => {
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
    it(`knows what ${policy} lets pass`, () => {
      const host = { jwt: block({ validationPolicy: policy }) };
      expect(ask(host).jwt[0]!.passes).to.equal(missing);
      expect(ask(host, { headers: ['authorization', 'Bearer x'] }).jwt[0]!.passes).to.equal(failed);
    });
  }

  it('takes claims that are given for those of a verified token, but of their issuer', () => {
    expect(ask({ jwt: block(), rbac }, { claims: { role: 'admin' } }).rbac).to.include({ allowed: true });
    const other = ask({ jwt: block(), rbac }, { claims: { role: 'admin', iss: 'https://else.test' } });
    expect(other.jwt[0]).to.include({ passes: false });
    expect(other.rbac).to.include({ allowed: false });
  });
});
