import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { toStruct } from '@edge-gateway/core/grpc';
import { createContext } from '@edge-gateway/core';
import { startAuthServers, type AuthServers } from '../../../test/envoy/auth/auth-servers.ts';
import { startPausableProxy } from '../../../test/parts/pausable-proxy.ts';
import { until } from '../../../test/parts/until.ts';
import { protect, upstream, type Protected } from './protection.ts';

const settings = (spec: string): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ${spec} }
`;
const GUARD = `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: guard, namespace: gw-system }
spec:
  configs:
    - basicAuth: { apr: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } } }
`;
const route = (prefix: string, options: string, destination = ''): string => `
      - matchers: [{ prefix: ${prefix} }]
        name: route${prefix.replaceAll('/', '-')}
        options: { ${options} }
        routeAction:
          multi:
            destinations:
              - { weight: 1, destination: { upstream: { name: echo } }, options: { ${destination} } }`;
const host = (options: string, ...routes: string[]): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { ${options} }
    routes:${(routes.length > 0 ? routes : [route('/', '')]).join('')}
`;
const CONFIG_REF = 'extauth: { configRef: { name: guard } }';
const server = (name: string, more = ''): string =>
  `{ extauthzServerRef: { name: ${name} }, requestTimeout: 5s${more && `, ${more}`} }`;
const option = (key: string, value: string, more: object = {}) => ({ header: { key, value }, ...more });
const OK = { status: { code: 0 } };

describe('auth servers of a gateway', () => {
  let servers: AuthServers;
  let gateway: Protected | undefined;

  beforeEach(async () => {
    servers = await startAuthServers();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await servers.close();
  });

  async function open(...resources: string[]): Promise<Protected> {
    const all = [upstream(servers.grpcPort, 'auth'), upstream(servers.httpPort, 'auth-http'), GUARD, ...resources];
    return (gateway = await protect(all.join('---\n')));
  }
  const extensions = () => servers.checks.map(({ contextExtensions }) => contextExtensions ?? {});
  const seenBy = (answer: { readonly body: string }) =>
    (JSON.parse(answer.body) as { readonly headers: Record<string, string> }).headers;

  it('evaluate AuthConfigs, with the name of the AuthConfig and of its level', async () => {
    const { ask } = await open(
      settings(`extauth: ${server('auth')}`),
      host(
        CONFIG_REF,
        route('/route', CONFIG_REF),
        route('/destination', '', CONFIG_REF),
        route('/off', 'extauth: { disable: true }'),
        route('/', ''),
      ),
    );
    // The password is not checked here: the server decides.
    for (const path of ['/', '/route', '/destination', '/off']) expect((await ask(path)).status, path).to.equal(200);
    const config_id = 'gw-system.guard';
    const [onHost, onRoute, onDestination, ...more] = extensions();
    expect(onHost).to.deep.equal({ config_id, source_type: 'virtual_host', source_name: 'gw-system.shop' });
    expect(onRoute).to.include({ config_id, source_type: 'route' });
    expect(onRoute).to.have.property('source_name').that.includes('route-route');
    expect(onDestination).to.include({ config_id, source_type: 'weighted_destination' });
    expect(more).to.deep.equal([]);
    servers.grpc = { response: { status: { code: 7 } } };
    expect(await ask('/')).to.include({ status: 403, body: '' });
  });

  it('are connected to before the listeners open', async () => {
    const waits: Promise<unknown>[] = [];
    const holdListeners = (what: string, ready: Promise<boolean>) =>
      void waits.push(ready.then((isConnected) => [what, isConnected]));
    const parts = [upstream(servers.grpcPort, 'auth'), GUARD, settings(`extauth: ${server('auth')}`), host(CONFIG_REF)];
    gateway = await protect(parts.join('---\n'), '', { holdListeners });
    expect(await Promise.all(waits)).to.deep.include(['the connection to the auth server auth_gw-system', true]);
  });

  it('leave AuthConfigs to the gateway without extauthzServerRef', async () => {
    const { ask } = await open(
      settings(`namedExtauth: { own: ${server('auth')} }`),
      host(
        CONFIG_REF,
        route('/own', 'extauth: { customAuth: { name: own, contextExtensions: { team: a } } }'),
        route('/', ''),
      ),
    );
    expect((await ask('/')).status).to.equal(401);
    expect(extensions()).to.deep.equal([]);
    expect((await ask('/own')).status).to.equal(200);
    expect(extensions()).to.deep.equal([{ team: 'a' }]);
  });

  it('are chosen by the nearest level, by name or the one of the settings', async () => {
    const { ask } = await open(
      settings(`extauth: ${server('auth')}, namedExtauth: { web: ${server('auth-http', 'httpService: {}')} }`),
      host(
        'extauth: { customAuth: {} }',
        route('/web', 'extauth: { customAuth: { name: web } }'),
        route('/both', 'extauth: { customAuth: { name: web } }', 'extauth: { customAuth: {} }'),
        route('/', ''),
      ),
    );
    const asked = async (path: string) => {
      const before = [servers.checks.length, servers.calls.length] as const;
      expect((await ask(path)).status, path).to.equal(200);
      return [servers.checks.length - before[0], servers.calls.length - before[1]];
    };
    expect(await asked('/')).to.deep.equal([1, 0]);
    expect(await asked('/web')).to.deep.equal([0, 1]);
    expect(await asked('/both')).to.deep.equal([1, 0]);
  });

  it('of a listener replace the one of the settings', async () => {
    const { ask } = await open(
      settings(`extauth: ${server('auth')}`),
      host('extauth: { customAuth: {} }'),
      `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 8080
  proxyNames: [gateway-proxy]
  httpGateway: { options: { extauth: ${server('auth-http', 'httpService: { pathPrefix: /check }')} } }
`,
    );
    expect((await ask('/a?b=1')).status).to.equal(200);
    expect(servers.calls.map(({ line }) => line)).to.deep.equal(['GET /check/a?b=1']);
    expect(servers.checks).to.deep.equal([]);
  });

  it('over HTTP are asked for bodies without encoding, and their denials pass on as bytes', async () => {
    const { port } = await open(
      settings(`extauth: ${server('auth-http', 'httpService: { request: { allowedHeaders: [x-a] } }')}`),
      host('extauth: { customAuth: {} }'),
    );
    const denial = async (headers: readonly string[], body: Buffer) => {
      servers.http = { status: 403, headers, body };
      const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': 'gzip' } });
      expect(response.status).to.equal(403);
      return Buffer.from(await response.arrayBuffer());
    };
    const image = Buffer.from([0x89, 0x50, 0x00, 0xff, 0xfe]);
    expect(await denial(['content-type', 'image/png'], image)).to.deep.equal(image);
    const { headers } = servers.calls[0]!;
    expect(headers[headers.indexOf('accept-encoding') + 1]).to.equal('identity');
    const text = await denial(['content-encoding', 'gzip'], gzipSync('no entry'));
    expect(text.toString('utf8')).to.equal('no entry');
  });

  it('over HTTP receive the accept-encoding of the client if configured', async () => {
    const { ask } = await open(
      settings(
        `extauth: ${server('auth-http', 'httpService: { request: { allowedHeaders: [accept-encoding] }, response: { allowedClientHeaders: [x-b] } }')}`,
      ),
      host('extauth: { customAuth: {} }'),
    );
    servers.http = { status: 403, headers: ['content-encoding', 'gzip'], body: gzipSync('no entry') };
    const answer = await ask('/', { 'accept-encoding': 'gzip' });
    expect([answer.headers['content-encoding'], answer.body]).to.deep.equal([undefined, 'no entry']);
    expect(servers.calls[0]!.headers.filter((each) => /^(gzip|identity)$/.test(each))).to.deep.equal(['gzip']);
  });

  it('whose upstream is removed deny every request, also with failureModeAllow', async () => {
    const { ask, source, state, reached } = await open(host('extauth: { customAuth: {} }'));
    expect(state('VirtualService', 'shop')).to.equal('Rejected');
    expect((await ask('/')).status).to.equal(404);
    const allowing = [
      settings(`extauth: ${server('auth', 'failureModeAllow: true')}`),
      host('extauth: { customAuth: {} }'),
    ];
    source.set('resources', [upstream(servers.grpcPort, 'auth'), ...allowing].join('---\n'));
    expect([state('VirtualService', 'shop'), (await ask('/')).status]).to.deep.equal(['Accepted', 200]);
    source.set('resources', allowing.join('---\n'));
    expect([state('VirtualService', 'shop'), (await ask('/')).status]).to.deep.equal(['Rejected', 403]);
    expect(reached()).to.equal(1);
  });

  it('that do not respond in time deny the request, unless failureModeAllow is set', async () => {
    for (const [allows, status] of [
      [false, 503],
      [true, 200],
    ] as const) {
      const waiting = `{ extauthzServerRef: { name: silent }, requestTimeout: 50ms, statusOnError: 503, failureModeAllow: ${allows} }`;
      // A server that does not speak gRPC.
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => void sockets.add(socket));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as { port: number };
      const { ask, close } = await open(
        upstream(port, 'silent'),
        settings(`extauth: ${waiting}`),
        host('extauth: { customAuth: {} }'),
      );
      expect((await ask('/')).status).to.equal(status);
      await close();
      gateway = undefined;
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });

  it('are called over a new connection after one that went silent, on which calls time out', async () => {
    const proxy = await startPausableProxy(servers.grpcPort);
    try {
      const { ask } = await open(
        upstream(proxy.port, 'silent'),
        settings('extauth: { extauthzServerRef: { name: silent }, requestTimeout: 500ms }'),
        host('extauth: { customAuth: {} }'),
      );
      await until(async () => (await ask('/')).status === 200);
      proxy.silence();
      expect((await ask('/')).status).to.equal(403);
      await until(async () => (await ask('/')).status === 200);
    } finally {
      proxy.close();
    }
  });

  it('grant a user that clients cannot forge on any route', async () => {
    const { ask } = await open(
      settings(`extauth: ${server('auth', 'userIdHeader: X-Who')}`),
      host('extauth: { customAuth: {} }', route('/open', 'extauth: { disable: true }'), route('/', '')),
    );
    const forgeries: Record<string, string>[] = [{ 'x-who': 'mallory' }, { X_Who: 'mallory' }];
    for (const forged of forgeries) {
      expect(seenBy(await ask('/', forged))).not.to.have.any.keys('x-who', 'x_who');
      expect(seenBy(await ask('/open', forged))).not.to.have.any.keys('x-who', 'x_who');
    }
    servers.grpc = { response: { ...OK, okResponse: { headers: [option('x-who', 'alice')] } } };
    for (const forged of forgeries)
      expect(seenBy(await ask('/', forged)))
        .to.include({ 'x-who': 'alice' })
        .and.not.to.have.property('x_who');
  });

  it('leave dynamic metadata, also with a denial', async () => {
    const add = (where: string, value: string) => `${where}: [{ header: { key: x-team, value: '${value}' } }]`;
    const team = '%DYNAMIC_METADATA(envoy.filters.http.ext_authz:team:name)%';
    const { ask } = await open(
      settings(`extauth: ${server('auth')}`),
      host(
        `extauth: { customAuth: {} }, headerManipulation: { ${add('requestHeadersToAdd', team)}, ${add('responseHeadersToAdd', team)} }`,
      ),
    );
    const dynamicMetadata = toStruct({ team: { name: 'blue' } });
    servers.grpc = { response: { ...OK, dynamicMetadata } };
    expect(seenBy(await ask('/'))).to.include({ 'x-team': 'blue' });
    servers.grpc = { response: { status: { code: 7 }, dynamicMetadata } };
    const denied = await ask('/');
    expect([denied.status, denied.headers['x-team']]).to.deep.equal([403, 'blue']);
  });

  it('over gRPC read no metadata but that of verified tokens', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const local = { key: publicKey.export({ type: 'spki', format: 'pem' }) };
    const providers = { idp: { issuer: 'me', keepToken: true, jwks: { local } } };
    const jwtStaged = { beforeExtAuth: { providers, validationPolicy: 'ALLOW_MISSING' } };
    const { ask } = await open(
      settings(`extauth: ${server('auth')}`),
      host(`extauth: { customAuth: {} }, jwtStaged: ${JSON.stringify(jwtStaged)}`),
    );
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${encoded({ alg: 'RS256' })}.${encoded({ iss: 'me', sub: 'alice' })}`;
    const token = `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
    expect((await ask('/', { authorization: `Bearer ${token}` })).status).to.equal(200);
    expect((await ask('/')).status).to.equal(200);
    const [verified, none] = servers.checks.map(({ metadataContext }) => JSON.stringify(metadataContext));
    expect(verified).to.match(/^.{20,40}envoy\.filters\.http\.jwt_authn.*idp.*sub.*alice/);
    expect(none).to.equal('{}');
  });

  it('select the route again with clearRouteCache', async () => {
    const routes = `
      - matchers: [{ prefix: /, headers: [{ name: x-plan, value: gold }] }]
        directResponseAction: { status: 218, body: gold }${route('/', '')}`;
    for (const [clear, status] of [
      ['true', 218],
      ['false', 200],
    ] as const) {
      servers.grpc = { response: { ...OK, okResponse: { headers: [option('x-plan', 'gold')] } } };
      const { ask, close } = await open(
        settings(`extauth: ${server('auth', `clearRouteCache: ${clear}`)}`),
        host('extauth: { customAuth: {} }', routes),
      );
      expect((await ask('/')).status).to.equal(status);
      await close();
      gateway = undefined;
    }
  });

  it('are counted, also for the cluster of the route', async () => {
    const context = createContext();
    const all = [upstream(servers.grpcPort, 'auth'), settings(`extauth: ${server('auth', 'statPrefix: main')}`)];
    gateway = await protect([...all, host('extauth: { customAuth: {} }')].join('---\n'), '', {
      metrics: context.metrics,
    });
    await gateway.ask('/');
    servers.grpc = { response: { status: { code: 7 } } };
    await gateway.ask('/');
    const counts = context.metrics
      .list()
      .flatMap(({ name, ...each }) =>
        name.path.includes('ext_authz') && each.type === 'counter' && each.stat.value > 0
          ? [[name.path, each.stat.value]]
          : [],
      );
    expect(counts).to.deep.equal([
      ['cluster.echo_gw-system.ext_authz.main.denied', 1],
      ['cluster.echo_gw-system.ext_authz.main.ok', 1],
      ['http.http.ext_authz.main.denied', 1],
      ['http.http.ext_authz.main.ok', 1],
    ]);
  });
});
