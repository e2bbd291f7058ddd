import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { keySetForEnvoy } from '../../src/envoy/local-keys.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' });
const secret = privateKey.export({ format: 'jwk' });
const symmetric = { kty: 'oct', k: 'AAAA' };
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
const keysOf = (key: string | object): unknown =>
  JSON.parse(keySetForEnvoy(typeof key === 'string' ? key : JSON.stringify(key)) ?? 'null');

describe('local keys for Envoys', () => {
  it('are the public keys of a key set, a key or PEM', () => {
    expect(keysOf({ keys: [jwk] })).to.deep.equal({ keys: [jwk] });
    expect(keysOf(jwk)).to.deep.equal({ keys: [jwk] });
    expect(keysOf(pem)).to.deep.equal({ keys: [jwk] });
    expect(keysOf(`${pem}\n${pem}`)).to.deep.equal({ keys: [jwk, jwk] });
  });

  for (const [what, key] of [
    ['a private key', secret],
    ['a symmetric key', symmetric],
    ['a symmetric key among others', { keys: [jwk, symmetric] }],
    ['a private key among others', { keys: [jwk, secret] }],
    ['no key', { keys: [] }],
    ['no PEM', 'key'],
    ['JSON that cannot be read', '{'],
  ] as const) {
    it(`are none for ${what}`, () => {
      expect(keysOf(key)).to.equal(null);
    });
  }
});
