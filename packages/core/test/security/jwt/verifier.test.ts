import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { silentLoggers } from '../../../src/index.ts';
import { remoteKeys, type KeySource } from '../../../src/security/jwt/key-source.ts';
import { createTokenCache } from '../../../src/security/jwt/token-cache.ts';
import { createVerifier, type TokenVerifier } from '../../../src/security/jwt/verifier.ts';
import { createIssuer, ISSUER, NOW, type Issuer } from './issuer.ts';

const MINUTE = 60_000;

describe('a token verifier', () => {
  let issuer: Issuer;
  let other: Issuer;
  let now: number;
  let calls: number;
  let fetchText: () => Promise<string>;

  before(async () => {
    issuer = await createIssuer();
    other = await createIssuer('RS256', 'other');
  });
  beforeEach(() => {
    now = NOW;
    calls = 0;
    fetchText = async () => issuer.keySet;
  });

  const source = (): KeySource =>
    remoteKeys({
      fetchText: () => {
        calls++;
        return fetchText();
      },
      cacheMs: 5 * MINUTE,
      now: () => now,
      log: silentLoggers.get('jwt'),
      from: { provider: 'main' },
    });
  const verifier = (keys: KeySource, cache = createTokenCache()): TokenVerifier =>
    createVerifier({ rules: { issuer: ISSUER }, keys, cache, now: () => now });
  const outcome = async (tokens: TokenVerifier, text: string): Promise<string> => {
    const result = await tokens.verify(text);
    return typeof result === 'string' ? result : 'valid';
  };

  it('reads times with a fraction, and those beyond the exact integers', async () => {
    const tokens = verifier(source());
    const part = { iat: NOW / 1000 - 0.5, nbf: NOW / 1000 - 0.5, exp: NOW / 1000 + 300.5 };
    expect(await outcome(tokens, await issuer.sign(part))).to.equal('valid');
    expect(await outcome(tokens, await issuer.sign({ exp: 9_007_199_254_740_994 }))).to.equal('valid');
    expect(await outcome(tokens, await issuer.sign({ exp: NOW / 1000 - 60.5 }))).to.equal('expired');
    expect(await outcome(tokens, await issuer.sign({ exp: 1e30 }))).to.equal('expNotPositive');
    expect(await outcome(tokens, await issuer.sign({ exp: '5' }))).to.equal('expNotInteger');
  });

  it('rejects a token without exp if that is required', async () => {
    const keys = source();
    const token = await issuer.sign({ exp: undefined });
    expect(await outcome(verifier(keys), token)).to.equal('valid');
    const parts = { keys, cache: createTokenCache(), now: () => now };
    const strict = createVerifier({ ...parts, rules: { issuer: ISSUER, requireExpiration: true } });
    expect(await outcome(strict, token)).to.equal('expired');
    expect(await outcome(strict, await issuer.sign())).to.equal('valid');
  });

  it('accepts both names of Ed25519 in tokens and keys (RFC 9864)', async () => {
    const signers = [await createIssuer('EdDSA'), await createIssuer('Ed25519')];
    for (const { jwk } of signers) {
      for (const signer of signers) {
        fetchText = async () => JSON.stringify({ keys: [{ ...signer.jwk, alg: jwk.alg }] });
        expect(await outcome(verifier(source()), await signer.sign()), jwk.alg).to.equal('valid');
      }
    }
  });

  it('lets all tokens that arrive during a fetch wait for the next one', async () => {
    const tokens = verifier(source());
    expect(await outcome(tokens, await issuer.sign())).to.equal('valid');
    const rotated = await Promise.all(
      Array.from({ length: 20 }, (_, i) => other.sign({ sub: `user-${i}`, exp: NOW / 1000 + 7200 })),
    );
    now += 30 * MINUTE;
    let published = false;
    fetchText = async () => {
      const text = published ? other.keySet : issuer.keySet;
      published = true;
      await nextTick();
      return text;
    };
    const late = await issuer.sign({ exp: NOW / 1000 + 7200 });
    const first = outcome(tokens, late);
    const outcomes = await Promise.all(rotated.map((text) => outcome(tokens, text)));
    expect(await first).to.equal('valid');
    expect(new Set(outcomes)).to.deep.equal(new Set(['valid']));
    expect(calls).to.equal(3);
  });

  it('shares one fetch among two verifiers of the same keys', async () => {
    const keys = source();
    const [first, second] = [verifier(keys), verifier(keys)];
    await outcome(first, await issuer.sign());
    fetchText = async () => other.keySet;
    const text = await other.sign();
    expect(await Promise.all([outcome(first, text), outcome(second, text)])).to.deep.equal(['valid', 'valid']);
    expect(calls).to.equal(2);
  });

  it('does not fetch again if the keys were fetched after the token arrived', async () => {
    const tokens = verifier(source());
    expect(await outcome(tokens, await other.sign())).to.equal('noKey');
    expect(calls).to.equal(1);
  });

  it('rejects cached tokens of a withdrawn key although the key source is new', async () => {
    const cache = createTokenCache();
    const text = await issuer.sign();
    expect(await outcome(verifier(source(), cache), text)).to.equal('valid');
    fetchText = async () => other.keySet;
    const again = verifier(source(), cache);
    expect(again.known(text)).to.equal(undefined);
    expect(await outcome(again, await other.sign())).to.equal('valid');
    expect(again.known(text)).to.equal(undefined);
    expect(await outcome(again, text)).to.equal('noKey');
  });

  it('fetches the keys again if the clock was set back', async () => {
    const tokens = verifier(source());
    const text = await issuer.sign({ nbf: 0 });
    expect(await outcome(tokens, text)).to.equal('valid');
    fetchText = async () => other.keySet;
    now -= 120 * MINUTE;
    expect(await outcome(tokens, text)).to.equal('noKey');
  });
});
