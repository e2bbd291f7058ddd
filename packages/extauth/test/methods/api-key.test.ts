import { createHash, createHmac } from 'node:crypto';
import { fromByteString, toByteString } from '@edge-gateway/core';
import type { ApiKeyAuth } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { guarded, only, secretsOf, stopAll } from '../harness.ts';

const refs = (...names: string[]) => ({
  k8sSecretApikeyStorage: { apiKeySecretRefs: names.map((name) => ({ name, namespace: 'n' })) },
});
const step = (spec: ApiKeyAuth) => only({ apiKeyAuth: spec });

describe('apiKeyAuth', () => {
  afterEach(stopAll);

  it('allows a known key, and identifies it by the name of its secret', async () => {
    const secrets = secretsOf({ alice: { 'api-key': 'k-1' }, bob: { 'api-key': 'k-2' } });
    const { seen } = await guarded(step({ headerName: 'X-Key', ...refs('alice', 'bob') }), { secrets });
    expect((await seen('/', { headers: { 'x-key': 'k-2' } }))['x-user-id']).to.equal('bob');
  });

  it('returns 401 with an empty body for all other keys', async () => {
    const secrets = secretsOf({ alice: { 'api-key': 'k-1' }, empty: { 'api-key': '' } });
    const { ask } = await guarded(step(refs('alice', 'empty', 'gone')), { secrets });
    for (const key of [
      undefined,
      '',
      'k',
      'K-1',
      'k-1, k-1',
      'x'.repeat(8000),
      createHash('sha256').update('k-1').digest('hex'),
    ]) {
      const answer = await ask('/', key === undefined ? {} : { headers: { 'api-key': key } });
      expect(answer, key).to.include({ status: 401, body: '' });
      expect(answer.headers['www-authenticate']).to.equal('API key is missing or invalid');
    }
  });

  it('rejects removed keys, and allows the others', async () => {
    const secrets = secretsOf({ bob: { 'api-key': 'k-2' } });
    const { ask } = await guarded(step(refs('alice', 'bob')), { secrets });
    expect((await ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(401);
    expect((await ask('/', { headers: { 'api-key': 'k-2' } })).status).to.equal(200);
  });

  it('copies metadata of the key into headers, and never client values', async () => {
    const secrets = secretsOf({ alice: { 'api-key': 'k-1', plan: 'gold' }, bob: { 'api-key': 'k-2' } });
    const spec = { ...refs('alice', 'bob'), headersFromMetadataEntry: { 'X-Plan': { name: 'plan' } } };
    const { seen } = await guarded(step(spec), { secrets });
    expect((await seen('/', { headers: { 'api-key': 'k-1', 'x-plan': 'free' } }))['x-plan']).to.equal('gold');
    expect(await seen('/', { headers: { 'api-key': 'k-2', 'x-plan': 'gold' } })).not.to.have.property('x-plan');
  });

  it('rejects a key without required metadata, or whose metadata would inject a header', async () => {
    const secrets = secretsOf({
      alice: { 'api-key': 'k-1' },
      mallory: { 'api-key': 'k-2', plan: 'gold\r\nx-admin: yes' },
    });
    const entry = { 'x-plan': { name: 'plan', required: true } };
    const { ask } = await guarded(step({ ...refs('alice', 'mallory'), headersFromMetadataEntry: entry }), { secrets });
    expect((await ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(401);
    expect((await ask('/', { headers: { 'api-key': 'k-2' } })).status).to.equal(401);
  });

  it('accepts metadata that is not a header value if unchecked, and injects no header', async () => {
    const secrets = secretsOf({
      alice: { 'api-key': 'k-1', plan: 'größer als 金' },
      mallory: { 'api-key': 'k-2', plan: 'gold\r\nx-admin: yes' },
    });
    const spec = {
      ...refs('alice', 'mallory'),
      headersFromMetadataEntry: { 'x-plan': { name: 'plan', required: true } },
    };
    const checked = await guarded(step(spec), { secrets });
    expect((await checked.ask('/', { headers: { 'api-key': 'k-2' } })).status).to.equal(401);
    const { seen } = await guarded(step({ ...spec, skipMetadataValidation: true }), { secrets });
    const plan = (await seen('/', { headers: { 'api-key': 'k-1' } }))['x-plan']!;
    expect(Buffer.from(plan, 'latin1').toString('utf8')).to.equal('größer als 金');
    const other = await seen('/', { headers: { 'api-key': 'k-2', 'x-plan': 'gold' } });
    expect(other).not.to.have.any.keys('x-plan', 'x-admin');
  });

  it('compares keys and headers beyond ASCII as UTF-8, and copies such metadata', async () => {
    const secrets = secretsOf({ alice: { 'api-key': 'schlüssel', plan: 'größer als 金', city: 'Zürich' } });
    const spec = {
      ...refs('alice'),
      match: { headers: [{ name: 'city' }] },
      headersFromMetadataEntry: { 'x-plan': { name: 'plan', required: true } },
    };
    const { seen, ask } = await guarded(step(spec), { secrets });
    const headers = { 'api-key': toByteString('schlüssel'), city: toByteString('Zürich') };
    expect(fromByteString((await seen('/', { headers }))['x-plan']!)).to.equal('größer als 金');
    expect((await ask('/', { headers: { ...headers, city: 'Zurich' } })).status).to.equal(401);
  });

  it('uses the deprecated field if the other one is not set', async () => {
    const secrets = secretsOf({ alice: { 'api-key': 'k-1', plan: 'gold', team: 'a' } });
    const old = { headersFromMetadata: { 'x-old': { name: 'plan' } } };
    const asking = { headers: { 'api-key': 'k-1' } };
    const { seen } = await guarded(step({ ...refs('alice'), ...old }), { secrets });
    expect(await seen('/', asking)).to.include({ 'x-old': 'gold' });
    const both = { ...refs('alice'), ...old, headersFromMetadataEntry: { 'x-team': { name: 'team' } } };
    const got = await (await guarded(step(both), { secrets })).seen('/', asking);
    expect(got).to.include({ 'x-team': 'a' }).and.not.have.property('x-old');
  });

  it('prefers the keys of the storage block to those of the deprecated field', async () => {
    const secrets = secretsOf({ alice: { 'api-key': 'k-1' }, bob: { 'api-key': 'k-2' } });
    const apiKeySecretRefs = [{ name: 'bob', namespace: 'n' }];
    const old = await guarded(step({ apiKeySecretRefs }), { secrets });
    expect((await old.ask('/', { headers: { 'api-key': 'k-2' } })).status).to.equal(200);
    const both = await guarded(step({ ...refs('alice'), apiKeySecretRefs }), { secrets });
    expect((await both.ask('/', { headers: { 'api-key': 'k-2' } })).status).to.equal(401);
    expect((await both.ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(200);
  });

  it('rejects malformed keys like unknown keys', async () => {
    const { ask } = await guarded(step(refs('alice')), { secrets: secretsOf({ alice: { 'api-key': 'k-1' } }) });
    for (const key of ['k-1 x', '"k-1"', 'k-1\u00a0', 'k\t-1', 'ÿþ', 'x'.repeat(12_000), ['k-1', 'k-1']]) {
      expect((await ask('/', { headers: { 'api-key': key } })).status, String(key).slice(0, 20)).to.equal(401);
    }
    const tooLong = await ask('/', { headers: { 'api-key': 'x'.repeat(17_000) } });
    expect(tooLong.status, 'longer than a head may be').to.equal(431);
    expect((await ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(200);
  });

  it('compares with stored digests, and further headers with data of the secret', async () => {
    const digest = createHash('sha256').update('k-1').digest('hex');
    const secrets = secretsOf({ alice: { 'api-key': digest.toUpperCase(), 'x-tenant': 'acme' } });
    const spec: ApiKeyAuth = {
      ...refs('alice'),
      digest: { algorithm: 'SHA256' },
      match: { headers: [{ name: 'x-tenant' }] },
    };
    const { ask } = await guarded(step(spec), { secrets });
    expect((await ask('/', { headers: { 'api-key': 'k-1', 'x-tenant': 'acme' } })).status).to.equal(200);
    expect((await ask('/', { headers: { 'api-key': 'k-1', 'x-tenant': 'other' } })).status).to.equal(401);
    expect((await ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(401);
    expect((await ask('/', { headers: { 'api-key': digest, 'x-tenant': 'acme' } })).status).to.equal(401);
  });

  it('compares with stored HMAC digests', async () => {
    const digest = createHmac('sha256', 'shared').update('k-1').digest('base64');
    const secrets = secretsOf({ alice: { 'api-key': digest }, shared: { username: 'u', password: 'shared' } });
    const hmac = { algorithm: 'HMAC_SHA256', sharedSecretRef: { name: 'shared', namespace: 'n' } } as const;
    const { ask } = await guarded(step({ ...refs('alice'), hmac }), { secrets });
    expect((await ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(200);
    expect((await ask('/', { headers: { 'api-key': digest } })).status).to.equal(401);
  });
});
