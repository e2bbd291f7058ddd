import { join } from 'node:path';
import { expect } from 'chai';
import { createContext, silentLoggers, type AuthDecision, type AuthRequest } from '@edge-gateway/core';
import type { AuthStep } from '@edge-gateway/core/schema';
import { startService, type Service } from '@edge-gateway/demo';
import { createAuthService, listenGrpc } from '@edge-gateway/extauth';
import { readPage } from '../docs/page.ts';
import { ROOT } from '../docs/workspace.ts';
import { startEnvoyProcess, type EnvoyProcess } from '../parts/envoy-process.ts';

describe('decisions of the auth server, applied by Envoy', () => {
  let app: Service;
  let server: Awaited<ReturnType<typeof listenGrpc>>;
  let envoy: EnvoyProcess;
  let url: string;
  let decide: (request: AuthRequest) => AuthDecision;
  const service = createAuthService({
    context: createContext({ log: silentLoggers }),
    methods: [{ type: 'jwt', create: () => ({ local: true, authorize: (request) => decide(request) }) }],
  });

  before(async function () {
    this.timeout(300_000);
    app = await startService('app', (req, res) => {
      res.setHeader('x-from', 'app');
      res.end(JSON.stringify({ url: req.url, raw: req.rawHeaders, ...req.headers }));
    });
    const spec = { configs: [{ jwt: {} } as AuthStep] };
    service.update({
      authConfigs: new Map([
        ['AuthConfig/gw-system/login', { config: { ref: { namespace: 'gw-system', name: 'login' }, spec } }],
      ]),
      settings: { requireRbac: false },
    });
    server = await listenGrpc(service, { address: '127.0.0.1', port: 0, log: silentLoggers.get('ext_authz') });
    const printed = readPage(join(ROOT, 'docs', 'envoy-auth.md')).find(({ text }) =>
      text.startsWith('# file: envoy.yaml'),
    )!;
    const config = printed.text
      .replace('port_value: 10000', 'port_value: 0')
      .replace('port_value: 9901', 'port_value: 0')
      .replace('port_value: 3212', `port_value: ${app.port}`)
      .replace('port_value: 8083', `port_value: ${server.port}`)
      .replace(
        'http_filters:',
        `http_filters:
                  - name: envoy.filters.http.set_metadata
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config
                      metadata:
                        - metadata_namespace: envoy.filters.http.jwt_authn
                          value: { issuer: { sub: alice } }`,
      )
      .replace(
        '- name: envoy.filters.http.router',
        `- name: envoy.filters.http.header_mutation
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
                      mutations:
                        request_mutations:
                          - append:
                              header: { key: x-plan, value: '%DYNAMIC_METADATA(envoy.filters.http.ext_authz:config_0:plan)%' }
                  - name: envoy.filters.http.router`,
      );
    envoy = await startEnvoyProcess(config, 'envoy.yaml');
    url = `http://127.0.0.1:${[...envoy.ports.values()][0]}`;
    decide = () => ({ allowed: true });
    for (let status = 403; status === 403;) ({ status } = await fetch(`${url}/`));
  });
  after(async () => {
    await envoy?.close();
    server?.close();
    service.close();
    await app?.close();
  });

  async function get(path = '/', headers: Record<string, string> = {}) {
    const response = await fetch(url + path, { headers, redirect: 'manual' });
    return { response, body: await response.text() };
  }

  it('sees the request as the client sent it', async () => {
    let seen: AuthRequest | undefined;
    decide = (request) => {
      seen = request;
      return { allowed: true };
    };
    await get('/a/./b?c=1', { 'x-a': '1', cookie: 'a=1', 'x-user-id': 'root' });
    expect(seen).to.include({ method: 'GET', path: '/a/b?c=1', scheme: 'http', clientAddress: '127.0.0.1' });
    expect(seen!.host).to.equal(url.slice('http://'.length));
    expect(seen!.header('x-a')).to.equal('1');
    expect(seen!.header('cookie')).to.equal('a=1');
    expect(seen!.requestId).to.match(/^[0-9a-f-]{36}$/);
    expect(seen!.metadata.get('envoy.filters.http.jwt_authn')).to.deep.equal({ issuer: { sub: 'alice' } });
  });

  it('forwards the granted headers, query and metadata, and adds each cookie to the response', async () => {
    decide = () => ({
      allowed: true,
      userId: 'Zoë',
      requestChanges: [
        { op: 'append', name: 'x-role', value: 'a' },
        { op: 'append', name: 'x-role', value: 'b' },
        { op: 'remove', name: 'x-gone' },
        { op: 'set', name: 'x-new', value: '1' },
      ],
      responseChanges: [
        { op: 'append', name: 'set-cookie', value: 'a=1' },
        { op: 'append', name: 'set-cookie', value: 'b=2' },
        { op: 'set', name: 'x-from', value: 'auth' },
        { op: 'set', name: 'x-absent', value: '1', where: 'absent' },
        { op: 'set', name: 'x-present', value: '1', where: 'present' },
      ],
      queryChanges: [
        { op: 'set', name: 'a', value: '2' },
        { op: 'remove', name: 'token' },
      ],
      metadata: { plan: 'gold' },
    });
    const { response, body } = await get('/?a=1&token=t&b=3', { 'x-role': 'forged', 'x-gone': '1', x_user_id: 'root' });
    const seen = JSON.parse(body) as Record<string, string> & { raw: string[] };
    expect(seen).to.include({ 'x-role': 'a, b', 'x-new': '1', 'x-plan': 'gold' });
    expect(Buffer.from(seen['x-user-id']!, 'latin1').toString()).to.equal('Zoë');
    expect(seen).not.to.have.any.keys('x-gone', 'x_user_id');
    expect(Object.fromEntries(new URL(seen['url']!, url).searchParams)).to.deep.equal({ a: '2', b: '3' });
    expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
    expect(response.headers.get('x-from')).to.equal('auth');
    expect(response.headers.get('x-absent')).to.equal('1');
    expect(response.headers.get('x-present')).to.equal(null);
  });

  it('returns the status, headers and body of a rejection', async () => {
    const headers = [
      'Content-Type',
      'text/html',
      'set-cookie',
      'a=1',
      'set-cookie',
      'b=2',
      'location',
      'https://idp.example.com/',
    ];
    decide = () => ({ allowed: false, status: 302, headers, body: '<p>', reason: 'login' });
    const { response, body } = await get();
    expect(response.status).to.equal(302);
    expect(body).to.equal('<p>');
    expect(response.headers.get('content-type')).to.equal('text/html');
    expect(response.headers.get('location')).to.equal('https://idp.example.com/');
    expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
  });

  for (const status of [200, 401, 403, 413, 418, 429, 503]) {
    it(`returns a rejection with status ${status}`, async () => {
      decide = () => ({ allowed: false, status, body: 'no', reason: 'no' });
      const { response, body } = await get();
      expect(response.status).to.equal(status);
      expect(body).to.equal('no');
    });
  }

  it('rejects when the chain fails, or grants what no header can carry', async () => {
    decide = () => {
      throw new Error('defect');
    };
    expect((await get()).response.status).to.equal(403);
    for (const value of ['a\r\nx-forged: 1', '\u00e9']) {
      decide = () => ({ allowed: true, requestChanges: [{ op: 'set', name: 'x-a', value }] });
      expect((await get()).response.status).to.equal(403);
    }
  });
});
