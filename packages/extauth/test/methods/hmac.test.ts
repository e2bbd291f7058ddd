import { createHmac } from 'node:crypto';
import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { guarded, only, secretsOf, stopAll, type Guarded } from '../harness.ts';

const NOW = Date.parse('Thu, 22 Jun 2017 17:15:21 GMT');
const DATE = 'Thu, 22 Jun 2017 17:15:21 GMT';
const SECRETS = secretsOf({
  alice: { username: 'alice', password: 'secret' },
  'alice-2': { username: 'alice', password: 'next secret' },
  bob: { username: 'bob', password: "bob's secret" },
});

interface Signing {
  readonly username?: string;
  readonly secret?: string;
  readonly algorithm?: string;
  readonly list?: string;
  readonly text?: string;
}

/** The header of a client that signs `text`. */
function sign({ username = 'alice', secret = 'secret', algorithm = 'hmac-sha1', ...more }: Signing = {}): string {
  const { list = 'date @request-target', text = `date: ${DATE}\n@request-target: get /pets?id=1` } = more;
  const signature = createHmac(algorithm.replace('hmac-', ''), secret).update(text).digest('base64');
  return `hmac username="${username}", algorithm="${algorithm}", headers="${list}", signature="${signature}"`;
}

const ref = (name: string) => ({ name, namespace: 'n' });

async function signed(...names: string[]): Promise<Guarded> {
  const context = createContext({ secrets: SECRETS, now: () => NOW });
  const secretRefs = { secretRefs: names.map(ref) };
  return guarded(only({ hmacAuth: { secretRefs, parametersInHeaders: {} } }), { context });
}

describe('hmacAuth', () => {
  let guard: Guarded;
  const status = async (authorization: string | readonly string[] | undefined, more = {}, path = '/pets?id=1') => {
    const headers = { date: DATE, ...(authorization !== undefined && { authorization }), ...more };
    return (await guard.ask(path, { headers })).status;
  };

  beforeEach(async () => {
    guard = await signed('alice', 'alice-2', 'bob');
  });
  afterEach(stopAll);

  it('allows a signed request, and identifies the user', async () => {
    const seen = await guard.seen('/pets?id=1', { headers: { date: DATE, authorization: sign() } });
    expect(seen['x-user-id']).to.equal('alice');
  });

  it('accepts a signature made by openssl', async () => {
    const authorization =
      'hmac username="alice", algorithm="hmac-sha1", headers="date @request-target", ' +
      'signature="jfgOJ1lBQTb8sVvpjhBAHEV3jCQ="';
    expect(await status(authorization)).to.equal(200);
  });

  it('accepts every secret of a user, HMAC-SHA-256, and further signed headers', async () => {
    expect(await status(sign({ secret: 'next secret' }))).to.equal(200);
    expect(await status(sign({ algorithm: 'hmac-sha256' }))).to.equal(200);
    const text = `x-amount: 5\n@request-target: get /pets?id=1\ndate: ${DATE}`;
    const authorization = sign({ list: 'X-Amount @request-target date', text });
    expect(await status(authorization, { 'x-amount': '5' })).to.equal(200);
    expect(await status(authorization, { 'x-amount': '6' })).to.equal(401);
  });

  it('rejects with 401, a challenge and an empty body', async () => {
    const answer = await guard.ask('/pets');
    expect(answer).to.include({ status: 401, body: '' });
    expect(answer.headers['www-authenticate']).to.equal('hmac');
  });

  it('rejects another method, path, query, date, secret or user than the signed one', async () => {
    const authorization = sign();
    expect((await guard.ask('/pets?id=1', { method: 'PUT', headers: { date: DATE, authorization } })).status).to.equal(
      401,
    );
    expect(await status(authorization, {}, '/pets?id=2')).to.equal(401);
    expect(await status(authorization, {}, '/pets')).to.equal(401);
    expect(await status(authorization, { date: 'Thu, 22 Jun 2017 17:15:22 GMT' })).to.equal(401);
    expect(await status(sign({ secret: "bob's secret" }))).to.equal(401);
    expect(await status(sign({ username: 'mallory' }))).to.equal(401);
    expect(await status(sign({ username: 'mallory', secret: '' }))).to.equal(401);
    expect(await status(authorization.replace('sha1', 'sha256'))).to.equal(401);
  });

  it('requires a signed request target and a signed date', async () => {
    expect(await status(sign({ list: 'date', text: `date: ${DATE}` }))).to.equal(401);
    expect(await status(sign({ list: '@request-target', text: '@request-target: get /pets?id=1' }))).to.equal(401);
  });

  it('rejects a date that is more than five minutes from the clock, or no HTTP date', async () => {
    const at = async (date: string) =>
      status(sign({ text: `date: ${date}\n@request-target: get /pets?id=1` }), { date });
    for (const [offset, expected] of [
      [-300, 200],
      [300, 200],
      [-301, 401],
      [301, 401],
    ] as const) {
      expect(await at(new Date(NOW + offset * 1000).toUTCString()), String(offset)).to.equal(expected);
    }
    for (const date of [
      '',
      'now',
      '1498151721',
      '2017-06-22T17:15:21Z',
      'Thursday, 22-Jun-17 17:15:21 GMT',
      '99999999999999999999',
    ])
      expect(await at(date), date).to.equal(401);
  });

  it('accepts x-date in place of date, and checks both if both are signed', async () => {
    const text = `x-date: ${DATE}\n@request-target: get /pets?id=1`;
    const authorization = sign({ list: 'x-date @request-target', text });
    expect(await status(authorization, { date: 'Thu, 22 Jun 2000 17:15:21 GMT', 'x-date': DATE })).to.equal(200);
    const old = 'Thu, 22 Jun 2000 17:15:21 GMT';
    const both = sign({ list: 'x-date @request-target date', text: `${text}\ndate: ${old}` });
    expect(await status(both, { date: old, 'x-date': DATE })).to.equal(401);
  });

  it('rejects signed headers that are missing, that occur twice, or that are listed twice', async () => {
    const text = `date: ${DATE}\n@request-target: get /pets?id=1\nx-a: `;
    const list = 'date @request-target x-a';
    expect(await status(sign({ list, text }))).to.equal(401);
    for (const value of ['1', '2', '1, 2', '1,2']) {
      expect(await status(sign({ list, text: text + value }), { 'x-a': ['1', '2'] }), value).to.equal(401);
    }
    const twice = `date: ${DATE}\n@request-target: get /pets?id=1\ndate: ${DATE}`;
    expect(await status(sign({ list: 'date @request-target date', text: twice }))).to.equal(401);
    expect(await status(sign({ list: 'date @request-target Date', text: twice }))).to.equal(401);
  });

  it('does not take a client header for the request target', async () => {
    const authorization = sign({ text: `date: ${DATE}\n@request-target: get /other` });
    expect(await status(authorization)).to.equal(401);
  });

  it('rejects malformed headers', async () => {
    const good = sign();
    for (const bad of [
      'hmac',
      'hmac ',
      'Basic YWxpY2U6c2VjcmV0',
      good.replace('hmac ', 'hmac,'),
      good.replace('username="alice", ', ''),
      good.replace('username="alice"', 'username=alice'),
      good.replace('username="alice"', 'username="alice", username="alice"'),
      good.replace('username="alice"', 'username="alice", realm="x"'),
      good.replace('username="alice"', String.raw`username="al\"ice"`),
      good.replace('hmac-sha1', 'sha1'),
      good.replace('hmac-sha1', 'constructor'),
      good.replace('hmac-sha1', 'hmac-md5'),
      good.replace('headers="date @request-target"', 'headers=""'),
      good.replace('date @request-target', 'date  @request-target'),
      good.replace('date @request-target', Array.from({ length: 33 }, (_, i) => `x-${i}`).join(' ')),
      good.replace(/signature="[^"]*"/, 'signature=""'),
      good.replace(/signature="[^"]*"/, 'signature="AA=="'),
      good.replace(/signature="(.*)="/, 'signature="$1"'),
      `${good}, `,
      good.replace('alice', 'a'.repeat(5000)),
    ]) {
      expect(await status(bad), bad.slice(0, 200)).to.equal(401);
    }
  });

  it('rejects several Authorization headers, whichever is valid', async () => {
    expect(await status([sign(), sign()])).to.equal(401);
    expect(await status([sign(), 'Basic YWxpY2U6c2VjcmV0'])).to.equal(401);
    expect(await status(['Basic YWxpY2U6c2VjcmV0', sign()])).to.equal(401);
  });

  it('accepts a signature of 32 lines, and no longer one', async () => {
    for (const [lines, expected] of [
      [32, 200],
      [33, 401],
    ] as const) {
      const names = Array.from({ length: lines - 2 }, (_, i) => `x-${i}`);
      const list = ['date', '@request-target', ...names].join(' ');
      const text = [`date: ${DATE}`, '@request-target: get /pets?id=1', ...names.map((name) => `${name}: v`)].join(
        '\n',
      );
      const headers = Object.fromEntries(names.map((name) => [name, 'v']));
      expect(await status(sign({ list, text }), headers), `${lines} lines`).to.equal(expected);
    }
  });

  it('accepts parameters in another order, without spaces, and the scheme in any case', async () => {
    const [username, algorithm, list, signature] = sign().slice('hmac '.length).split(', ');
    expect(await status(`HMAC ${signature},${list},${algorithm},${username}`)).to.equal(200);
  });

  it('rejects a removed secret, and allows the others', async () => {
    guard = await signed('alice', 'gone');
    expect(await status(sign())).to.equal(200);
    expect(await status(sign({ username: 'bob', secret: "bob's secret" }))).to.equal(401);
  });

  it('compares user names and headers as bytes', async () => {
    const secrets = secretsOf({ rene: { username: 'rené', password: 'geheim ü' } });
    const context = createContext({ secrets, now: () => NOW });
    guard = await guarded(only({ hmacAuth: { secretRefs: { secretRefs: [ref('rene')] } } }), { context });
    const name = Buffer.from('rené', 'utf8').toString('latin1');
    const list = 'date @request-target x-name';
    const text = `date: ${DATE}\n@request-target: get /pets?id=1\nx-name: rené`;
    const authorization = sign({ username: name, secret: 'geheim ü', list, text });
    expect(await status(authorization, { 'x-name': name })).to.equal(200);
  });

  it('combines with other steps by a boolean expression', async () => {
    const context = createContext({ secrets: SECRETS, now: () => NOW });
    const hmac = { name: 'signed', hmacAuth: { secretRefs: { secretRefs: [ref('bob')] } } };
    const key = { name: 'key', apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs: [] } } };
    guard = await guarded({ booleanExpr: 'key || signed', configs: [hmac, key] }, { context });
    expect(await status(sign({ username: 'bob', secret: "bob's secret" }))).to.equal(200);
    expect(await status(sign())).to.equal(401);
  });
});
