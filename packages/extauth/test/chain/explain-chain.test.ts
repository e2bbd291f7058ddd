import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { factsOf, plainSecrets, type Facts, type Secrets } from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { createAuthExplainer, type ExplainedAuth } from '../../src/chain/explain-chain.ts';
import { basic, guarded, only, stopAll } from '../harness.ts';

const users = { ann: { salt: 'TYiryv0/', hashedPassword: '8BvzLUO9IfGPGGsPnAgSu1' } };
const ref = { name: 'shop', namespace: 'gw-system' };
const NO_SECRETS = plainSecrets({});

function factsWith(headers: Readonly<Record<string, string>>): Facts {
  const req = new IncomingMessage(new Socket());
  req.method = 'GET';
  req.url = '/';
  const facts = factsOf(req);
  facts.headers = Object.entries(headers).flat();
  return facts;
}

async function explain(spec: AuthConfigSpec, facts: Facts, secrets: Secrets | undefined): Promise<ExplainedAuth> {
  const config = { ref, spec };
  const explainer = createAuthExplainer(secrets);
  const reached = { config, neighbours: [config], facts, settings: undefined };
  expect(explainer.explain(reached)).to.equal(undefined);
  expect(await explainer.settle()).to.equal(true);
  expect(await explainer.settle()).to.equal(false);
  return explainer.explain(reached)!;
}

describe('an explained AuthConfig', () => {
  afterEach(stopAll);

  it('decides as the gateway does', async () => {
    const config = only({ basicAuth: { realm: 'staff', apr: { users } } });
    const { ask } = await guarded(config);
    for (const authorization of [
      basic('ann', 'password'),
      basic('ann', 'guessed'),
      basic('bob', 'password'),
      'Bearer x',
    ]) {
      const { status } = await ask('/', { headers: { authorization } });
      const decided = await explain(config, factsWith({ authorization }), NO_SECRETS);
      expect(decided.type, authorization).to.equal(status === 200 ? 'allowed' : 'denied');
      if (decided.type === 'denied') expect(decided.status).to.equal(status);
    }
  });

  it('replaces headers of the client by its grants', async () => {
    const spec = only({
      apiKeyAuth: { apiKeySecretRefs: [ref], headersFromMetadataEntry: { 'x-plan': { name: 'plan' } } },
    });
    const facts = factsWith({ 'api-key': 'hush', 'x-user-id': 'forged', 'x-plan': 'forged' });
    const decided = await explain(spec, facts, plainSecrets({ shop: { 'api-key': 'hush', plan: 'gold' } }));
    expect(decided).to.deep.equal({ type: 'allowed', user: 'shop', granted: ['gold'] });
    expect(facts.header('x-user-id')).to.equal('shop');
    expect(facts.header('x-plan')).to.equal('gold');
  });

  it('is not evaluated without the Secrets of its keys', async () => {
    for (const [apiKeyAuth, reason] of [
      [{ apiKeySecretRefs: [] }, 'the resources contain no Secret with an API key'],
      [{ apiKeySecretRefs: [ref] }, 'Secret gw-system/shop is not among the resources'],
    ] as const)
      expect(await explain(only({ apiKeyAuth }), factsWith({}), NO_SECRETS)).to.deep.equal({
        type: 'notEvaluated',
        reason,
      });
    const basicAuth = { apr: { users } };
    expect((await explain(only({ basicAuth }), factsWith({}), undefined)).type).to.equal('notEvaluated');
  });

  it('is not evaluated if a step of another method decides', async () => {
    const configs = [
      { name: 'staff', basicAuth: { apr: { users } } },
      { name: 'token', oauth2: { accessTokenValidation: {} } },
    ];
    const notEvaluated = {
      type: 'notEvaluated',
      reason: 'only apiKeyAuth and basicAuth are evaluated, not oauth2.accessTokenValidation',
    };
    const right = { authorization: basic('ann', 'password') };
    for (const [booleanExpr, headers, type] of [
      ['staff && token', {}, 'denied'],
      ['staff && token', right, 'notEvaluated'],
      ['staff || token', right, 'allowed'],
      ['staff || token', {}, 'notEvaluated'],
      ['!token', right, 'notEvaluated'],
    ] as const) {
      const decided = await explain({ booleanExpr, configs }, factsWith(headers), NO_SECRETS);
      expect(decided.type, booleanExpr).to.equal(type);
      if (type === 'notEvaluated') expect(decided).to.deep.equal(notEvaluated);
    }
  });

  it('responds with 500 if it cannot be compiled', async () => {
    const decided = await explain(only({ basicAuth: {} }), factsWith({}), NO_SECRETS);
    expect(decided).to.include({ type: 'denied', status: 500 });
  });

  it('starts no thread for passwords, which would end with the command', async () => {
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = () => expect.fail('a thread is used');
    try {
      const facts = factsWith({ authorization: basic('ann', 'password') });
      const decided = await explain(only({ basicAuth: { apr: { users } } }), facts, NO_SECRETS);
      expect(decided).to.include({ type: 'allowed', user: 'ann' });
    } finally {
      Worker.prototype.postMessage = post;
    }
  });
});
