import { createHmac } from 'node:crypto';
import { createContext, createLoggers, GatewayError, identityOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { hmacAuth, type HmacAuthOptions } from '../../src/index.ts';
import { call, start, stopAll } from '../harness.ts';

describe('hmacAuth as middleware', () => {
  const lines: string[] = [];
  const log = createLoggers({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  afterEach(stopAll);

  function serve(options: HmacAuthOptions): Promise<string> {
    const guard = hmacAuth(options, createContext({ log }));
    return start((req, res) => {
      guard(req, res, (error) => {
        res.statusCode = error ? 500 : 200;
        res.end(JSON.stringify({ code: (error as GatewayError | undefined)?.code, identity: identityOf(req) }));
      });
    });
  }

  function signed(username: string, secret: string, path: string) {
    const date = new Date().toUTCString();
    const text = `@request-target: get ${path}\nx-date: ${date}`;
    const signature = createHmac('sha256', secret).update(text).digest('base64');
    const list = '@request-target x-date';
    const parameters = `username="${username}", algorithm="hmac-sha256", headers="${list}", signature="${signature}"`;
    return { headers: { 'x-date': date, authorization: `hmac ${parameters}` } };
  }

  it('allows signed requests, and identifies the user', async () => {
    const url = await serve({ users: { shop: 'one', bank: ['old', 'new'] } });
    for (const [user, secret] of [
      ['shop', 'one'],
      ['bank', 'old'],
      ['bank', 'new'],
    ] as const) {
      const answer = await call(`${url}/orders?id=1`, signed(user, secret, '/orders?id=1'));
      expect(JSON.parse(answer.body).identity).to.include({ provider: 'hmacAuth', subject: user });
    }
  });

  it('rejects other requests, and logs no secret', async () => {
    const url = await serve({ users: { shop: 'the-shared-secret' } });
    expect((await call(url)).status).to.equal(401);
    expect((await call(url, signed('shop', 'wrong', '/'))).status).to.equal(401);
    expect((await call(url, signed('bank', 'the-shared-secret', '/'))).status).to.equal(401);
    expect(lines.join('')).to.not.include('the-shared-secret');
  });

  it('rejects options that cannot be used', () => {
    for (const [users, message] of [
      [{}, 'users must contain at least one user'],
      [undefined, 'hmacAuth: users is missing'],
      [{ shop: '' }, 'the secret of shop is empty'],
      [{ shop: [] }, 'the secret of shop is empty'],
      [{ shop: ['a', ''] }, 'the secret of shop is empty'],
      [{ shop: undefined }, 'hmacAuth: users.shop: must be text, or a list, got undefined'],
      [{ '': 'x' }, 'invalid user name ""'],
      [{ 'a,b': 'x' }, 'invalid user name "a,b"'],
      [{ 'a"b': 'x' }, String.raw`invalid user name "a\"b"`],
    ] as const) {
      expect(() => hmacAuth({ users } as unknown as HmacAuthOptions), JSON.stringify(users)).to.throw(message);
    }
  });
});
