import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  asMiddleware,
  factsOf,
  GatewayError,
  identityFrom,
  identityOf,
  type Concern,
  type Handler,
  type MiddlewareOptions,
} from '../../src/index.ts';

interface Options {
  readonly fails?: unknown;
}

const seen: object[] = [];
const middleware = asMiddleware<Options>({
  name: 'door',
  option: 'door',
  stage: 'jwt',
  compile(options) {
    seen.push(options);
    return (req, _res, next) => {
      const facts = factsOf(req);
      facts.responseChanges.push({ op: 'append', name: 'set-cookie', value: 'a=1' });
      facts.requestChanges.push({ op: 'remove', name: 'x-user' });
      facts.requestChanges.push({ op: 'set', name: 'x-granted', value: 'yes' });
      next(options.fails);
    };
  },
} satisfies Concern<Options>);

const error = (status: number, more: object = {}): GatewayError =>
  new GatewayError('the reason', { code: 'ERR_TEST', status, ...more });

describe('asMiddleware', () => {
  let server: Server;
  afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

  /** Serves with this handler in front; what reaches `next` is told. */
  async function ask(handler: Handler, init: RequestInit = {}): Promise<Response> {
    server = createServer((req, res) => {
      handler(req, res, (failure) => {
        const code = failure === undefined ? 'none' : ((failure as GatewayError).code ?? 'unknown');
        res.setHeader('x-next', code);
        res.end(JSON.stringify(req.headers));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
      headers: { 'x-user': 'forged' },
      redirect: 'manual',
      ...init,
    });
  }

  it('removes other spellings of headers that are set or removed', async () => {
    const forged = { 'x-user': 'forged', x_user: 'forged', X_Granted: 'forged', x_other: 'kept' };
    const response = await ask(middleware({}), { headers: forged });
    expect(await response.json())
      .to.include({ 'x-granted': 'yes', x_other: 'kept' })
      .and.to.not.have.any.keys('x-user', 'x_user', 'x_granted');
  });

  it('responds to a rejection by default, with the headers and the body of the error', async () => {
    const reply = { headers: { 'www-authenticate': 'Bearer' }, reply: { body: 'Jwt is missing' } };
    const response = await ask(middleware({ fails: error(401, reply) }));
    expect(response.status).to.equal(401);
    expect(response.headers.get('www-authenticate')).to.equal('Bearer');
    expect(response.headers.get('content-type')).to.equal('text/plain');
    expect(response.headers.get('set-cookie')).to.equal('a=1');
    expect(response.headers.get('x-next')).to.equal(null);
    expect(await response.text()).to.equal('Jwt is missing');
  });

  it('responds to a failure without its cause', async () => {
    for (const fails of [new Error('a secret'), error(503), 'a secret']) {
      const response = await ask(middleware({ fails }));
      expect(response.status).to.equal(fails instanceof GatewayError ? 503 : 500);
      const body = await response.text();
      expect(JSON.parse(body)).to.have.all.keys('code', 'message', 'requestId');
      expect(body).to.not.match(/secret|the reason/);
      await new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
    }
  });

  it('passes rejections and failures to next(error) with onRefusal: next, without granted headers', async () => {
    const response = await ask(middleware({ fails: error(401), onRefusal: 'next' }));
    expect(response.headers.get('x-next')).to.equal('ERR_TEST');
    expect(response.headers.get('set-cookie')).to.equal('a=1');
    const headers = (await response.json()) as object;
    expect(headers).to.not.have.any.keys('x-user', 'x-granted');
  });

  it('responds to a redirect also with onRefusal: next', async () => {
    const headers = { location: 'https://id.example.com/' };
    const response = await ask(middleware({ fails: error(302, { headers, reply: { body: '' } }), onRefusal: 'next' }));
    expect([response.status, response.headers.get('location')]).to.deep.equal([302, 'https://id.example.com/']);
  });

  it('responds to HEAD without a body, and closes the connection after an unread body', async () => {
    const head = await ask(middleware({ fails: error(403) }), { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([403, '']);
    await new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
    const post = await ask(middleware({ fails: error(403) }), { method: 'POST', body: 'x'.repeat(300_000) });
    expect([post.status, post.headers.get('connection')]).to.deep.equal([403, 'close']);
  });

  it('continues with granted headers', async () => {
    const response = await ask(middleware({}));
    expect(response.headers.get('x-next')).to.equal('none');
    expect(await response.json()).to.include({ 'x-granted': 'yes' });
  });

  it('does not pass its option to the concern, and rejects an unknown value', async () => {
    await ask(middleware({ onRefusal: 'next' }));
    expect(seen.at(-1)).to.deep.equal({});
    for (const onRefusal of ['nxt', '', null, true]) {
      expect(() => middleware({ onRefusal } as unknown as MiddlewareOptions))
        .to.throw(GatewayError, /onRefusal .* use respond or next/)
        .with.property('code', 'ERR_CORE_MIDDLEWARE');
    }
  });

  it('returns the identity of the client', async () => {
    const claims = { sub: 'alice', groups: ['a', 1, 'b'] };
    let told: unknown;
    await ask((req, _res, next) => {
      expect(identityOf(req)).to.equal(undefined);
      factsOf(req).identity = identityFrom('main', claims);
      told = identityOf(req);
      next();
    });
    expect(told).to.deep.equal({ provider: 'main', subject: 'alice', claims, groups: ['a', 'b'] });
    expect(identityFrom('x', { groups: 'one' })).to.deep.equal({
      provider: 'x',
      claims: { groups: 'one' },
      groups: ['one'],
    });
    expect(identityFrom('x', { sub: 7, groups: { a: 1 } }))
      .to.deep.include({ groups: [] })
      .and.not.have.property('subject');
  });
});
