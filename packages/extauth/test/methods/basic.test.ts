import { createHash } from 'node:crypto';
import { hashSync } from 'bcryptjs';
import { createContext } from '@edge-gateway/core';
import type { BasicAuth } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { basicMethod } from '../../src/methods/basic.ts';
import { costOf } from '../../src/password/hash.ts';
import type { VerifyPassword } from '../../src/password/verifier.ts';
import { askFrom, basic, guarded, only, stopAll } from '../harness.ts';

// The hash of "password" as htpasswd prints it: $apr1$TYiryv0/$8BvzLUO9IfGPGGsPnAgSu1
const users = { alice: { salt: 'TYiryv0/', hashedPassword: '8BvzLUO9IfGPGGsPnAgSu1' } };

describe('basicAuth', () => {
  afterEach(stopAll);

  it('allows users with the correct password, and sends the user to the upstream', async () => {
    const { seen } = await guarded(only({ basicAuth: { realm: 'staff', apr: { users } } }));
    const headers = { authorization: basic('alice', 'password'), 'x-user-id': 'root', x_user_id: 'root' };
    const got = await seen('/', { headers });
    expect(got['x-user-id']).to.equal('alice');
    expect(got).not.to.have.property('x_user_id');
  });

  it('returns 401 with the realm and an empty body otherwise', async () => {
    const { ask } = await guarded(only({ basicAuth: { realm: 'sta"ff', apr: { users } } }));
    for (const authorization of [undefined, basic('alice', 'wrong'), basic('bob', 'password'), basic('alice', '')]) {
      const answer = await ask('/', authorization === undefined ? {} : { headers: { authorization } });
      expect(answer).to.include({ status: 401, body: '' });
      expect(answer.headers['www-authenticate']).to.equal(String.raw`Basic realm="sta\"ff"`);
    }
  });

  it('sends an empty realm by default', async () => {
    const { ask } = await guarded(only({ basicAuth: { apr: { users } } }));
    expect((await ask()).headers['www-authenticate']).to.equal('Basic realm=""');
  });

  it('rejects every malformed Authorization', async () => {
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

  it('supports SHA-1 of password and salt with digits in any case, also in Proxy-Authorization', async () => {
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

  it('supports APR1 in a list of users, and Proxy-Authorization only there', async () => {
    const listed = await guarded(only({ basicAuth: { encryption: { apr: {} }, userList: { users } } }));
    const plain = await guarded(only({ basicAuth: { apr: { users } } }));
    const good = basic('alice', 'password');
    expect((await listed.ask('/', { headers: { authorization: good } })).status).to.equal(200);
    expect((await listed.ask('/', { headers: { 'proxy-authorization': good } })).status).to.equal(200);
    expect((await plain.ask('/', { headers: { 'proxy-authorization': good } })).status).to.equal(401);
    const both = { authorization: basic('alice', 'wrong'), 'proxy-authorization': good };
    expect((await listed.ask('/', { headers: both })).status).to.equal(401);
  });

  it('does not confuse hashes of different kinds', async () => {
    const sha1 = { salt: 's', hashedPassword: createHash('sha1').update('passwords').digest('hex') };
    const asApr = await guarded(only({ basicAuth: { apr: { users: { bob: sha1 } } } }));
    const asSha1 = await guarded(only({ basicAuth: { encryption: { sha1: {} }, userList: { users } } }));
    const ask = { authorization: basic('bob', 'password') };
    expect((await asApr.ask('/', { headers: ask })).status).to.equal(401);
    expect((await asSha1.ask('/', { headers: { authorization: basic('alice', 'password') } })).status).to.equal(401);
  });

  it('rejects malformed user names and passwords, and users without a hash', async () => {
    const empty = {
      nobody: { salt: '', hashedPassword: '' },
      half: { salt: 's' },
      broken: { hashedPassword: '$2b$x' },
    };
    const { ask } = await guarded(only({ basicAuth: { apr: { users: { ...users, ...empty } } } }));
    const pairs = [
      'alice\0:password',
      'alice:password\0',
      '\0',
      ':',
      ':password',
      'alice',
      'nobody:',
      'half:',
      'broken:x',
    ];
    const encoded = [...pairs, `alice:${'p'.repeat(8192)}`].map((pair) => Buffer.from(pair).toString('base64'));
    const bytes = [Buffer.from([0xff, 0xfe, 0x3a, 0xc3, 0x28]).toString('base64'), 'YWxp-_==', 'YQ===', '='];
    for (const text of [...encoded, ...bytes]) {
      expect((await ask('/', { headers: { authorization: `Basic ${text}` } })).status, text.slice(0, 40)).to.equal(401);
    }
    expect((await ask('/', { headers: { authorization: `Basic ${'A'.repeat(17_000)}` } })).status).to.equal(431);
  });

  it('throws for an incomplete block, and for two blocks', async () => {
    const halves: BasicAuth[] = [
      {},
      { encryption: { sha1: {} } },
      { userList: { users } },
      { apr: { users }, encryption: { apr: {} }, userList: { users } },
    ];
    for (const basicAuth of halves) {
      const refused = await guarded(only({ basicAuth })).catch((error: unknown) => error);
      expect(refused, JSON.stringify(basicAuth)).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });

  it('supports bcrypt, and spends as much time on unknown users', async () => {
    const carol = { salt: '', hashedPassword: hashSync('s3cret', 10) };
    const { ask } = await guarded(only({ basicAuth: { apr: { users: { carol } } } }));
    expect((await ask('/', { headers: { authorization: basic('carol', 's3cret') } })).status).to.equal(200);
    const half = await guarded(only({ basicAuth: { apr: { users: { carol, dave: {} } } } }));
    expect((await half.ask('/', { headers: { authorization: basic('dave', 's3cret') } })).status).to.equal(401);
    const cost = async (name: string): Promise<number> => {
      const { user } = process.cpuUsage();
      for (let i = 0; i < 3; i++) await ask('/', { headers: { authorization: basic(name, 'wrong') } });
      return process.cpuUsage().user - user;
    };
    const known = await cost('carol');
    expect(await cost('nobody')).to.be.greaterThan(known / 3);
  });

  it('does not accept names of object members as users', async () => {
    const { ask } = await guarded(only({ basicAuth: { apr: { users } } }));
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect((await ask('/', { headers: { authorization: basic(name, 'password') } })).status).to.equal(401);
    }
  });

  it('ends the user name at the first colon', async () => {
    const carol = { salt: '', hashedPassword: hashSync('a:b:', 4) };
    const { ask, seen } = await guarded(only({ basicAuth: { apr: { users: { carol } } } }));
    const headers = { authorization: basic('carol', 'a:b:') };
    expect(await seen('/', { headers })).to.include({ 'x-user-id': 'carol' });
    for (const wrong of ['a', 'a:b', 'b:'])
      expect((await ask('/', { headers: { authorization: basic('carol', wrong) } })).status, wrong).to.equal(401);
  });

  it('returns 429 with Retry-After to a client with too many concurrent password checks', async () => {
    const carol = { salt: '', hashedPassword: hashSync('right', 8) };
    const { ask } = await guarded({ configs: [{ name: 'a', basicAuth: { apr: { users: { carol } } } }] });
    const wrong = (i: number) => ask('/', { headers: { authorization: basic('carol', `wrong-${i}`) } });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => wrong(i)));
    const later = answers.filter(({ status }) => status === 429);
    expect(later.length).to.be.greaterThan(0);
    for (const { headers, body } of later) expect([headers['retry-after'], body]).to.deep.equal(['1', '']);
    expect(answers.filter(({ status }) => status === 401)).to.have.lengthOf(40 - later.length);
  });

  it('counts the passwords of an IPv6 network as those of one client', async () => {
    const clients: string[] = [];
    const context = createContext();
    context.state('extauth.passwords', (): VerifyPassword => ({ client }) => {
      clients.push(client);
      return Promise.resolve(false);
    });
    const method = basicMethod.create({ apr: { users } }, { id: 'n.c/step', context });
    for (const address of ['2001:db8::1', '2001:db8::2', '192.0.2.1'])
      await askFrom(method, address, { authorization: basic('alice', 'x') });
    expect(clients).to.deep.equal(['2001:db8::/64', '2001:db8::/64', '192.0.2.1']);
  });

  it('rejects while passwords cannot be checked, also negated and with failureModeAllow', async () => {
    for (const verify of [() => Promise.resolve('busy' as const), () => Promise.reject(new Error('thread ended'))]) {
      const context = createContext();
      context.state('extauth.passwords', (): VerifyPassword => verify);
      const { ask } = await guarded(
        { configs: [{ name: 'a', basicAuth: { apr: { users } } }], booleanExpr: '!a' },
        { context, settings: { failureModeAllow: true } },
      );
      const answer = await ask('/', { headers: { authorization: basic('alice', 'password') } });
      expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
    }
  });

  it('makes the same checks for every user name, known or not, whatever their hashes cost', async () => {
    const asked: string[][] = [];
    const context = createContext();
    context.state('extauth.passwords', (): VerifyPassword => ({ hashes }) => {
      asked.push(hashes.map(costOf).sort());
      return Promise.resolve(false);
    });
    const mixed = {
      ...users,
      carol: { salt: '', hashedPassword: hashSync('x', 4) },
      dave: { salt: '', hashedPassword: hashSync('x', 5) },
      half: {},
    };
    const { ask } = await guarded(only({ basicAuth: { apr: { users: mixed } } }), { context });
    for (const name of ['alice', 'carol', 'dave', 'half', 'nobody'])
      await ask('/', { headers: { authorization: basic(name, 'x') } });
    expect(asked).to.deep.equal(Array.from({ length: 5 }, () => ['apr1 0', 'bcrypt 4', 'bcrypt 5']));
  });

  it('throws for a bcrypt hash that takes minutes to check', async () => {
    const carol = { hashedPassword: `$2b$17$${'a'.repeat(53)}` };
    const refused = await guarded(only({ basicAuth: { apr: { users: { carol } } } })).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
  });
});
