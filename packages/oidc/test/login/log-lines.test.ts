import { expect } from 'chai';
import { request } from 'undici';
import { startBadWorld, type BadWorld } from '../parts/bad-world.ts';

describe('log lines of a login name the cause', () => {
  let world: BadWorld;
  beforeEach(async () => {
    world = await startBadWorld();
  });
  afterEach(() => world.close());

  const problems = (): string =>
    world.log
      .filter(({ level }) => Number(level) >= 40)
      .map((line) => JSON.stringify(line))
      .join('\n');

  it('contain both issuers if the provider is not the configured one', async () => {
    world.protect();
    world.idp.metadata = { issuer: 'https://other.example/\u001b[31m{tenant}' };
    expect((await world.visit()).status).to.equal(502);
    const text = `issuerUrl is ${world.idp.issuer}, but the provider's issuer is https://other.example/_[31m{tenant}`;
    expect(problems()).to.contain(text);
  });

  it('contain the id in the JSON for a program that prefers it', async () => {
    world.protect();
    world.idp.metadata = { issuer: 'https://other.example' };
    const program = await request(`${world.site.url}/a`, { headers: { accept: 'application/json' } });
    const { requestId, ...others } = (await program.body.json()) as Record<string, unknown>;
    expect([program.statusCode, others]).to.deep.equal([
      502,
      { code: 'ERR_OIDC_PROVIDER_ANSWER', message: others['message'] },
    ]);
    expect(program.headers['x-request-id']).to.equal(requestId);
    expect(world.log.some((line) => line['requestId'] === requestId)).to.equal(true);
  });

  it('contain the login and the likely reason if the provider does not know the client', async () => {
    world.protect();
    world.idp.token = () => ({ status: 401, body: { error: 'invalid_client' } });
    expect((await world.visit()).status).to.equal(502);
    expect(problems()).to.contain('401 invalid_client: check clientId and the client secret');
    const told = world.log.filter(({ msg }) => msg === 'login failed');
    expect(told.map(({ config }) => config)).to.deep.equal([`oidc/${world.idp.issuer}/web`]);
  });

  it('contain the issuer whose keys are unusable', async () => {
    world.protect();
    world.idp.keys = () => ({ body: { keys: [] } });
    await world.visit();
    const told = world.log.find(({ msg }) => String(msg).startsWith('key set rejected'));
    expect(told).to.include({ issuer: world.idp.issuer });
  });
});
