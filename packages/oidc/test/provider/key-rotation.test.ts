import { expect } from 'chai';
import { silentLoggers } from '@edge-gateway/core';
import { codeOf } from '../../src/error-codes.ts';
import { createProvider } from '../../src/provider/provider.ts';
import { createVerifier, type KeyPolicy, type Verifier } from '../../src/provider/verify.ts';
import { startBadProvider, type BadProvider } from '../parts/bad-provider.ts';

const COOL_DOWN_MS = 400;

describe('keys that a provider rotates without overlap', () => {
  let idp: BadProvider;
  let clock: number;
  let verifier: Verifier;
  const make = (policy?: KeyPolicy, keyCoolDownMs = COOL_DOWN_MS): Verifier => {
    const now = (): number => clock;
    const log = silentLoggers.get('ext_authz');
    const options = { issuerUrl: idp.issuer, override: undefined, pollIntervalMs: 1_800_000, keyCoolDownMs, now };
    return createVerifier(createProvider({ ...options, log }), policy, now);
  };
  const token = (header: Record<string, string> = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    return idp.sign({ iss: idp.issuer, sub: 'me', aud: 'web', iat: now, exp: now + 600 }, header);
  };
  const outcome = (text: string, fresh: boolean): Promise<string> =>
    verifier.verify(text, { fresh }).then(
      () => 'good',
      (error: unknown) => codeOf(error) ?? 'another error',
    );
  const login = async (): Promise<string> => outcome(await token(), true);
  const forged = async (kid: string): Promise<string> => outcome(await token({ kid }), false);
  beforeEach(async () => {
    idp = await startBadProvider();
    clock = Date.now();
    verifier = make();
  });
  afterEach(() => idp.close());

  it('are fetched immediately, also right after the first fetch', async () => {
    expect(await login()).to.equal('good');
    await idp.rotate();
    expect(await login()).to.equal('good');
    expect(idp.keyCalls).to.equal(2);
  });

  it('are fetched once for many logins', async () => {
    await login();
    await idp.rotate();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => token()));
    const outcomes = await Promise.all(tokens.map((each, i) => outcome(each, i % 2 === 0)));
    expect(new Set(outcomes)).to.deep.equal(new Set(['good']));
    expect(idp.keyCalls).to.equal(2);
  });

  it('are fetched after the cool-down if they rotate twice; the logins wait', async () => {
    await login();
    for (let rotation = 1; rotation <= 3; rotation++) {
      await idp.rotate();
      const tokens = await Promise.all(Array.from({ length: 20 }, () => token()));
      const outcomes = await Promise.all(tokens.map((each, i) => outcome(each, i % 2 === 0)));
      expect(new Set(outcomes)).to.deep.equal(new Set(['good']));
      expect(idp.keyCalls).to.equal(1 + rotation);
    }
  });

  it('rotate under a flood of forged key ids with one fetch per cool-down, and no login fails', async () => {
    await login();
    const begun = Date.now();
    const flooding = new AbortController();
    let sent = 0;
    const flood = Array.from({ length: 150 }, async () => {
      while (!flooding.signal.aborted) {
        expect(await forged(`forged-${sent++}`)).to.equal('ERR_OIDC_TOKEN_INVALID');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    for (let rotation = 0; rotation < 3; rotation++) {
      await idp.rotate();
      expect(await login()).to.equal('good');
    }
    flooding.abort();
    const reads = idp.keyCalls - 1;
    const allowed = Math.ceil((Date.now() - begun) / COOL_DOWN_MS) + 1;
    await Promise.all(flood);
    expect(sent).to.be.greaterThan(150);
    expect(reads).to.be.at.most(allowed);
  });

  it('are waited for again when as many tokens as may wait have waited before', async () => {
    const unknown = await Promise.all(Array.from({ length: 100 }, (_, i) => token({ kid: `forged-${i}` })));
    await login();
    await idp.rotate();
    expect(await login()).to.equal('good');
    const outcomes = await Promise.all(unknown.map((each) => outcome(each, false)));
    expect(new Set(outcomes)).to.deep.equal(new Set(['ERR_OIDC_TOKEN_INVALID']));
    expect(idp.keyCalls).to.equal(3);
    await idp.rotate();
    expect(await outcome(await token(), false)).to.equal('good');
    expect(idp.keyCalls).to.equal(4);
  });

  it('are not fetched again for a repeated forged key id', async () => {
    verifier = make(undefined, 20);
    await login();
    for (let i = 0; i < 5; i++) {
      expect(await forged('forged')).to.equal('ERR_OIDC_TOKEN_INVALID');
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(idp.keyCalls).to.equal(2);
  });

  it('are found by a login whose key id was forged before', async () => {
    await login();
    expect(await forged('key-1')).to.equal('ERR_OIDC_TOKEN_INVALID');
    await idp.rotate();
    const late = await token();
    expect(await outcome(late, true)).to.equal('good');
    expect(await outcome(late, false)).to.equal('good');
  });

  it('are fetched again if their id stays the same, only for tokens from the provider itself', async () => {
    const named = { kid: 'the-same' };
    idp.keyId = 'the-same';
    expect(await outcome(await token(named), true)).to.equal('good');
    await idp.rotate();
    expect(await outcome(await token(named), false)).to.equal('ERR_OIDC_TOKEN_INVALID');
    expect(idp.keyCalls).to.equal(1);
    expect(await outcome(await token(named), true)).to.equal('good');
    expect(idp.keyCalls).to.equal(2);
  });

  it('are not fetched with the policy `never`, and at most `maxIdpReqPerPollingInterval` times', async () => {
    verifier = make({ never: {} });
    await login();
    await idp.rotate();
    expect(await login()).to.equal('ERR_OIDC_TOKEN_INVALID');
    expect(idp.keyCalls).to.equal(1);
    verifier = make({ maxIdpReqPerPollingInterval: 1 }, 10);
    await login();
    await idp.rotate();
    expect(await login()).to.equal('good');
    await idp.rotate();
    expect(await login()).to.equal('ERR_OIDC_TOKEN_INVALID');
    expect(idp.keyCalls).to.equal(3);
    clock += 1_800_000;
    const expected = { fresh: true, at: Date.now() };
    await verifier.verify(await token(), expected).catch(() => {});
    expect((await verifier.verify(await token(), expected)).payload).to.include({ sub: 'me' });
  });

  it('that are unavailable make logins unavailable, not rejected, and keep old tokens valid', async () => {
    const old = await token();
    await outcome(old, true);
    await idp.rotate();
    idp.keys = () => ({ status: 500, body: {} });
    expect(await login()).to.equal('ERR_OIDC_PROVIDER_UNAVAILABLE');
    expect(await outcome(old, false)).to.equal('good');
    idp.keys = undefined;
    expect(await login()).to.equal('good');
  });

  for (const [name, body] of Object.entries({
    HTML: '<html>',
    nothing: '',
    'an empty set': { keys: [] },
    'a broken key': { keys: [{ kty: 'RSA', kid: 'key-1', n: '%%%', e: 1 }] },
    'no list': { keys: 'x' },
    '10 MiB': `{"keys":[]}${' '.repeat(10 * 1024 * 1024)}`,
  })) {
    it(`that arrive as ${name} do not replace the previous ones`, async () => {
      const old = await token();
      await outcome(old, true);
      await idp.rotate();
      idp.keys = () => ({ body });
      expect(await login()).to.match(/^ERR_OIDC_(PROVIDER_ANSWER|TOKEN_INVALID)$/);
      expect(await outcome(old, false)).to.equal('good');
    });
  }
});
