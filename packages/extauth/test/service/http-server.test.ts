import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { silentLoggers, type AuthDecision, type AuthRequest, type ListeningServer } from '@edge-gateway/core';
import { listenHttp, type AuthService } from '../../src/index.ts';
import { KEYS, serve, told, TOLD } from './service-harness.ts';

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('checks over HTTP', () => {
  const open: ListeningServer[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });

  async function listen(service: AuthService): Promise<ListeningServer> {
    const server = await listenHttp(service, { address: '127.0.0.1', port: 0, log: silentLoggers.get('ext_authz') });
    open.push(server);
    return server;
  }

  function ask(
    { port }: ListeningServer,
    path: string,
    { body = '', ...options }: { method?: string; headers?: object; body?: string } = {},
  ) {
    return new Promise<Response>((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path, agent: false, ...(options as object) }, (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async function deciding(decision: AuthDecision, headers: object = {}): Promise<Response> {
    const { service } = serve({ 'n/a': TOLD }, { methods: [told(() => decision)] });
    return ask(await listen(service), '/check/n.a/', { headers });
  }

  it('allows with the headers for the upstream, and names those to remove', async () => {
    const server = await listen(serve({ 'n/keys': KEYS }).service);
    const { status, headers, body } = await ask(server, '/check/n.keys/private', {
      headers: { 'api-key': 'key-of-alice', x_user_id: 'root' },
    });
    expect(status).to.equal(200);
    expect(body).to.equal('');
    expect(headers).to.include({
      'x-user-id': 'alice',
      'x-team': 'red',
      'x-envoy-auth-headers-to-remove': 'x_user_id',
    });
  });

  it('rejects with the status and headers of the chain', async () => {
    const server = await listen(serve({ 'n/keys': KEYS }).service);
    const { status, headers } = await ask(server, '/check/n.keys/', { headers: { 'api-key': 'guessed' } });
    expect(status).to.equal(401);
    expect(headers['www-authenticate']).to.equal('API key is missing or invalid');
    expect(headers['x-envoy-auth-headers-to-remove']).to.equal(undefined);
  });

  it('passes method, path, host, headers and body of the request to the steps', async () => {
    const seen: AuthRequest[] = [];
    const spy = told((asked) => {
      seen.push(asked);
      return { allowed: true };
    });
    const { service } = serve({ 'n/a': TOLD }, { methods: [spy] });
    const headers = { host: 'app.example.com', 'x-a': '1', 'x-forwarded-proto': 'https', 'x-request-id': 'r1' };
    const server = await listen(service);
    await ask(server, '/check/n.a/a/../b//c?d=1', { method: 'PATCH', headers, body: 'text' });
    const [one] = seen;
    expect(one).to.include({
      method: 'PATCH',
      path: '/a/../b//c?d=1',
      host: 'app.example.com',
      scheme: 'https',
      requestId: 'r1',
    });
    expect(one!.body?.toString()).to.equal('text');
    expect(one!.header('x-a')).to.equal('1');
    expect(one!.headers().filter((_, i) => i % 2 === 0)).not.to.include('connection');
  });

  it('takes the AuthConfig from the start of the path alone', async () => {
    const { service } = serve({ 'n/keys': KEYS, 'n/open': TOLD }, { methods: [told(() => ({ allowed: true }))] });
    const server = await listen(service);
    const headers = { 'x-auth-config': 'n.open', config_id: 'n.open', 'x-config-id': 'n.open' };
    for (const path of [
      '/check/n.other/../n.open/',
      '/check/n.other/check/n.open/',
      '/check/N.open/',
      '/check/n.open%2f/',
      '/check/n.other/?config_id=n.open',
    ]) {
      expect((await ask(server, path, { headers })).status, path).to.equal(403);
    }
    for (const path of [
      '/',
      '/check',
      '/check/',
      '/check/n.open',
      '//check/n.open/',
      '/check/?n.open/',
      '/other/n.open/',
    ]) {
      expect((await ask(server, path, { headers })).status, path).to.equal(404);
    }
    expect((await ask(server, '/check/n.open/')).status).to.equal(200);
  });

  it('never responds to a rejection with 200, which would allow the request', async () => {
    const page: AuthDecision = { allowed: false, status: 200, body: 'logged out', reason: 'logout' };
    expect(await deciding(page)).to.include({ status: 203, body: 'logged out' });
    expect(await deciding({ ...page, body: '' })).to.include({ status: 204, body: '' });
  });

  it('sends each cookie', async () => {
    const headers = ['set-cookie', 'a=1', 'set-cookie', 'b=2', 'location', 'https://idp.example.com/'];
    const response = await deciding({ allowed: false, status: 302, headers, reason: 'login' });
    expect(response.status).to.equal(302);
    expect(response.headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
  });

  it('rejects bodies that are too long and huge headers', async () => {
    const server = await listen(serve({ 'n/keys': KEYS }).service);
    const headers = { 'api-key': 'key-of-alice' };
    expect(
      (await ask(server, '/check/n.keys/', { method: 'POST', headers, body: 'x'.repeat(100_000) })).status,
    ).to.equal(413);
    expect((await ask(server, '/check/n.keys/', { headers: { 'x-big': 'x'.repeat(100_000) } })).status).to.equal(431);
    expect((await ask(server, '/check/n.keys/', { headers })).status).to.equal(200);
  });

  it('survives garbage', async () => {
    const server = await listen(serve({ 'n/keys': KEYS }).service);
    for (const text of [
      '\0\u00ff\r\n\r\n',
      'GET check HTTP/1.1\r\n\r\n',
      'GET /check/n.keys/ HTTP/1.1\r\nbad\r\n\r\n',
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(server.port, '127.0.0.1', () => socket.end(text, 'latin1'));
        socket.on('error', () => {}).on('close', () => resolve());
        socket.resume();
      });
    }
    expect((await ask(server, '/check/n.keys/', { headers: { 'api-key': 'key-of-alice' } })).status).to.equal(200);
  });

  it('aborts the check of a proxy that disconnects', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = told(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal!.addEventListener('abort', () => {
            resolve();
            reject(new Error('aborted'));
          });
          socket.destroy();
        }),
    );
    const server = await listen(serve({ 'n/a': TOLD }, { methods: [slow] }).service);
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET /check/n.a/ HTTP/1.1\r\nhost: a\r\n\r\n'));
    await promise;
  });

  it('finishes checks in progress when it stops', async () => {
    const { promise, resolve } = Promise.withResolvers<{ allowed: true }>();
    const { service } = serve({ 'n/a': TOLD }, { methods: [told(() => promise)] });
    const server = await listen(service);
    const pending = ask(server, '/check/n.a/');
    while (service.active === 0) await new Promise((resolve) => setImmediate(resolve));
    const drained = server.drain();
    resolve({ allowed: true });
    expect((await pending).status).to.equal(200);
    await drained;
  });
});
