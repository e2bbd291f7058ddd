import { createHash } from 'node:crypto';
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { basic, guarded, only, stopAll } from '../harness.ts';

// The hash of "password" as htpasswd prints it: $apr1$TYiryv0/$8BvzLUO9IfGPGGsPnAgSu1
const users = { alice: { salt: 'TYiryv0/', hashedPassword: '8BvzLUO9IfGPGGsPnAgSu1' } };

describe('basicAuth', () => {
  afterEach(stopAll);

  it('lets in who knows the password, and tells the upstream who it is', async () => {
    const { seen } = await guarded(only({ basicAuth: { realm: 'staff', apr: { users } } }));
    const headers = { authorization: basic('alice', 'password'), 'x-user-id': 'root', x_user_id: 'root' };
    const got = await seen('/', { headers });
    expect(got['x-user-id']).to.equal('alice');
    expect(got).not.to.have.property('x_user_id');
  });

  it('answers 401 with the realm and an empty body to everybody else', async () => {
    const { ask } = await guarded(only({ basicAuth: { realm: 'sta"ff', apr: { users } } }));
    for (const authorization of [undefined, basic('alice', 'wrong'), basic('bob', 'password'), basic('alice', '')]) {
      const answer = await ask('/', authorization === undefined ? {} : { headers: { authorization } });
      expect(answer).to.include({ status: 401, body: '' });
      expect(answer.headers['www-authenticate']).to.equal(String.raw`Basic realm="sta\"ff"`);
    }
  });

  it('refuses every malformed Authorization', async () => {
    const { ask } = await guarded(only({ basicAuth: { apr: { users } } }));
    const good = basic('alice', 'password');
    const bad = [
      'Basic',
      'Basic ',
      'Basic !!!!',
      `Basic ${Buffer.from('alice').toString('base64')}`,
      `Bearer ${good.slice(6)}`,
      `${good}, ${good}`,
      `${good} x`,
      `Basic=${good.slice(6)}`,
      `Basic ${Buffer.from(`alice:${'p'.repeat(5000)}`).toString('base64')}`,
    ];
    for (const authorization of bad)
      expect((await ask('/', { headers: { authorization } })).status, authorization).to.equal(401);
    expect((await ask('/', { headers: { authorization: good.replace('Basic', 'bAsIC') } })).status).to.equal(200);
  });

  it('knows SHA-1 of password and salt, whatever the case of the digits, also in Proxy-Authorization', async () => {
    const hashedPassword = createHash('sha1').update('secretpepper').digest('hex').toUpperCase();
    const { ask } = await guarded(
      only({
        basicAuth: { encryption: { sha1: {} }, userList: { users: { bob: { salt: 'pepper', hashedPassword } } } },
      }),
    );
    expect((await ask('/', { headers: { authorization: basic('bob', 'secret') } })).status).to.equal(200);
    expect((await ask('/', { headers: { 'proxy-authorization': basic('bob', 'secret') } })).status).to.equal(200);
    expect((await ask('/', { headers: { authorization: basic('bob', 'Secret') } })).status).to.equal(401);
  });

  it('knows bcrypt, and spends as much on users who do not exist', async () => {
    const carol = { salt: '', hashedPassword: hashSync('s3cret', 10) };
    const { ask } = await guarded(only({ basicAuth: { apr: { users: { carol } } } }));
    expect((await ask('/', { headers: { authorization: basic('carol', 's3cret') } })).status).to.equal(200);
    const cost = async (name: string): Promise<number> => {
      const { user } = process.cpuUsage();
      for (let i = 0; i < 3; i++) await ask('/', { headers: { authorization: basic(name, 'wrong') } });
      return process.cpuUsage().user - user;
    };
    const known = await cost('carol');
    expect(await cost('nobody')).to.be.greaterThan(known / 3);
  });

  it('does not take names of object members for users', async () => {
    const { ask } = await guarded(only({ basicAuth: { apr: { users } } }));
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect((await ask('/', { headers: { authorization: basic(name, 'password') } })).status).to.equal(401);
    }
  });
});
