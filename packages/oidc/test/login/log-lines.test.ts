import { expect } from 'chai';
import { startBadWorld, type BadWorld } from '../parts/bad-world.ts';

describe('log lines of a login tell where to look', () => {
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

  it('name both issuers where the provider is another than the configured one', async () => {
    world.protect();
    world.idp.metadata = { issuer: 'https://other.example/\u001b[31m{tenant}' };
    expect((await world.visit()).status).to.equal(502);
    const text = `issuerUrl is ${world.idp.issuer}, but the provider there names itself https://other.example/_[31m{tenant}`;
    expect(problems()).to.contain(text);
  });

  it('name the login, and the likely reason where the provider does not know the client', async () => {
    world.protect();
    world.idp.token = () => ({ status: 401, body: { error: 'invalid_client' } });
    expect((await world.visit()).status).to.equal(502);
    expect(problems()).to.contain('401 invalid_client: look at clientId and the secret of the client');
    const told = world.log.filter(({ msg }) => msg === 'login failed');
    expect(told.map(({ config }) => config)).to.deep.equal([`oidc/${world.idp.issuer}/web`]);
  });

  it('name the issuer whose keys cannot be used', async () => {
    world.protect();
    world.idp.keys = () => ({ body: { keys: [] } });
    await world.visit();
    const told = world.log.find(({ msg }) => String(msg).startsWith('the key set of the provider cannot be used'));
    expect(told).to.include({ issuer: world.idp.issuer });
  });
});
