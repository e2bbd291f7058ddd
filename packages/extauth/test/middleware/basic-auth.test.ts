import { expect } from 'chai';
import { createContext, createLoggers, GatewayError, identityOf } from '@edge-gateway/core';
import { hashSync } from 'bcryptjs';
import { basicAuth, type BasicAuthOptions } from '../../src/index.ts';
import { basic, call, start, stopAll } from '../harness.ts';

describe('basicAuth', () => {
  const lines: string[] = [];
  const log = createLoggers({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  afterEach(stopAll);

  const users: BasicAuthOptions['users'] = {
    alice: 'pass:word é',
    bob: { hash: hashSync('of bob', 4) },
    carol: { hash: '$apr1$TYiryv0/$8BvzLUO9IfGPGGsPnAgSu1' },
  };

  it('admits users with their passwords: plain, bcrypt and APR1', async () => {
    const guard = basicAuth({ users, realm: 'staff' }, createContext({ log }));
    const url = await start((req, res) =>
      guard(req, res, () => res.end(`${req.headers['x-user-id']} ${identityOf(req)?.subject}`)),
    );
    const ask = (name: string, password: string) => call(url, { headers: { authorization: basic(name, password) } });
    for (const [name, password] of [
      ['alice', 'pass:word é'],
      ['bob', 'of bob'],
      ['carol', 'password'],
    ] as const) {
      expect(await ask(name, password)).to.include({ status: 200, body: `${name} ${name}` });
    }
    for (const [name, password] of [
      ['alice', 'password'],
      ['bob', ''],
      ['dave', 'password'],
      ['alice', 'pass'],
    ] as const) {
      const refused = await ask(name, password);
      expect(refused.status, name).to.equal(401);
      expect(refused.headers['www-authenticate']).to.equal('Basic realm="staff"');
    }
    expect((await call(url)).status).to.equal(401);
    expect(lines.join('')).to.not.match(/pass:word|of bob/);
    await guard.close?.();
  });

  it('throws for invalid users, without showing passwords', () => {
    const bad: unknown[] = [
      {},
      undefined,
      { a: '' },
      { '': 'a-secret' },
      { 'a:b': 'a-secret' },
      { a: { hash: 'a-secret' } },
      { a: {} },
    ];
    bad.push({ a: '$apr1$TYiryv0/$8BvzLUO9IfGPGGsPnAgSu1' }, { a: hashSync('x', 4) }, { a: { hash: '{SHA}abc' } });
    for (const users of bad) {
      expect(() => basicAuth({ users } as BasicAuthOptions), JSON.stringify(users))
        .to.throw(GatewayError, /^(?!.*(a-secret|8BvzLUO))/)
        .with.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });
});
