import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ServerCredentials } from '@grpc/grpc-js';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import { secretText } from '../../src/contract/snapshot.ts';
import type { Sds } from '../../src/schema/listener/ssl-config.ts';
import { memorySource } from '../../src/source/memory.ts';
import {
  pairSecret,
  rootsSecret,
  startDiscovery,
  type DiscoveryOptions,
  type DiscoveryServer,
  type Sent,
} from './discovery-server.ts';
import { until } from '../../../../test/parts/until.ts';

const CERTIFICATES = new URL('../../../routing/test/upstream/certificates/', import.meta.url).pathname;
const pem = (name: string): string => readFileSync(join(CERTIFICATES, name), 'utf8');
const pair = (name: string) => ({ cert: pem(`${name}.crt`), key: pem(`${name}.key`) });
const PAIR = { certificatesSecretName: 'pair' };

const upstreamWith = (sslConfig: object, name = 'a', port = 1): string =>
  JSON.stringify({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name, namespace: 'gw-system' },
    spec: { static: { hosts: [{ addr: '127.0.0.1', port }] }, sslConfig },
  });

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('certificates of secret discovery servers', () => {
  const servers: DiscoveryServer[] = [];
  let controlPlane: ControlPlane;
  let metrics: Metrics;
  let secrets: Record<string, Sent>;
  afterEach(async () => {
    await controlPlane.close();
    for (const server of servers.splice(0)) server.stop();
  });

  async function discovery(options: Partial<DiscoveryOptions> = {}): Promise<DiscoveryServer> {
    const server = await startDiscovery({ secrets: () => secrets, ...options });
    servers.push(server);
    return server;
  }

  /** Serves upstreams with these settings. */
  async function serve(...documents: string[]) {
    metrics = createMetrics();
    const source = memorySource(Object.fromEntries(documents.map((text, i) => [`${i}`, text])));
    controlPlane = createControlPlane({ source, metrics, log: silentLoggers });
    await controlPlane.start();
    return source;
  }

  const statusOf = (name = 'a') =>
    controlPlane.state!.statuses.get(`Upstream/gw-system/${name}`)!.statuses['gw-system']!;
  const served = (sds: Sds, key = 'tls.crt'): string | undefined => secretText(controlPlane.secrets.sds!(sds), key);
  const metric = (path: string): number =>
    (metrics.list().find(({ name }) => name.path === `sds_servers.${path}`)!.stat as { value: number }).value;
  const last = ({ requests }: DiscoveryServer) => requests.at(-1)!;

  it('are requested by name, acknowledged, and replaced when the server sends new ones', async () => {
    secrets = { pair: pairSecret(pair('server')), roots: rootsSecret(pem('ca.crt')) };
    const server = await discovery();
    const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR, validationContextName: 'roots' };
    await serve(upstreamWith({ sds }));
    expect(statusOf()).to.include({ state: 'Warning' });
    expect(statusOf().reason).to.include(
      `sds.certificatesSecretName: waiting for secret 'pair' of the secret discovery server 127.0.0.1:${server.port}`,
    );
    await until(() => statusOf().state === 'Accepted');
    expect(served(sds)).to.equal(pem('server.crt'));
    expect(served(sds, 'tls.key')).to.equal(pem('server.key'));
    expect(served(sds, 'ca.crt')).to.equal(pem('ca.crt'));
    await until(() => server.requests.length === 4);
    const [first] = server.requests;
    expect(first).to.include({ version_info: '', response_nonce: '', error_detail: null });
    expect(first!.type_url).to.equal('type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret');
    expect(first!.node).to.include({ cluster: 'gateway' });
    expect(server.requests.slice(0, 2).map(({ resource_names: [name] }) => name)).to.have.members(['pair', 'roots']);
    expect(last(server).response_nonce).to.equal(`n${last(server).version_info.slice(1)}`);

    secrets = { ...secrets, pair: pairSecret(pair('client')) };
    server.push();
    await until(() => served(sds) === pem('client.crt'));
    expect(served(sds, 'ca.crt')).to.equal(pem('ca.crt'));
    expect(metric('update_rejected')).to.equal(0);
    expect(metric('unusable')).to.equal(0);
  });

  const broken: [what: string, sent: () => Sent, reason: RegExp][] = [
    [
      'a key of another certificate',
      () => pairSecret({ ...pair('server'), key: pem('client.key') }),
      /does not belong to/,
    ],
    ['no PEM certificate', () => pairSecret({ ...pair('server'), cert: 'none' }), /readable PEM certificate/],
    [
      'no key',
      () => ({ tls_certificate: { certificate_chain: { inline_string: pem('server.crt') } } }),
      /has no private_key/,
    ],
    ['no secret', () => undefined, /the response contains no secret 'pair'/],
    [
      'another type',
      () => ({ generic_secret: { secret: { inline_string: 'a' } } }),
      /secret 'pair' has no tls_certificate/,
    ],
    ['a type without certificates', () => rootsSecret(pem('ca.crt')), /secret 'pair' has no tls_certificate/],
    ['bytes that are no message', () => Buffer.from('ffff', 'hex'), /the response contains a malformed secret/],
    [
      'a file name',
      () => ({ tls_certificate: { certificate_chain: { filename: '/etc/hosts' }, private_key: { filename: '/a' } } }),
      /needs one of inline_string and inline_bytes/,
    ],
    [
      'a password',
      () => ({
        tls_certificate: { ...(pairSecret(pair('server')) as any).tls_certificate, password: { inline_string: 'p' } },
      }),
      /password is not supported/,
    ],
  ];
  for (const [what, sent, reason] of broken) {
    it(`are rejected with ${what}, and the last valid one stays in use`, async () => {
      secrets = { pair: pairSecret(pair('server')) };
      const server = await discovery();
      const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR };
      await serve(upstreamWith({ sds }));
      await until(() => statusOf().state === 'Accepted' && last(server).version_info === 'v1');
      secrets = { pair: sent() };
      server.push();
      await until(() => last(server).error_detail !== null);
      expect(last(server)).to.include({ version_info: 'v1', response_nonce: 'n2' });
      expect(last(server).error_detail!.code).to.equal(13);
      expect(last(server).error_detail!.message).to.match(reason).and.not.include('PRIVATE KEY');
      expect(statusOf().state).to.equal('Warning');
      expect(statusOf().reason).to.match(reason).and.to.include('; the previous content stays in use');
      expect(served(sds)).to.equal(pem('server.crt'));
      expect(metric('update_rejected')).to.equal(1);
      expect(metric('unusable')).to.equal(1);

      secrets = { pair: pairSecret(pair('client')) };
      server.push();
      await until(() => served(sds) === pem('client.crt') && statusOf().state === 'Accepted');
      expect(metric('unusable')).to.equal(0);
    });

    it(`are missing after a first response with ${what}`, async () => {
      secrets = { pair: sent() };
      const server = await discovery();
      const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR };
      await serve(upstreamWith({ sds }));
      await until(() => server.requests.some(({ error_detail: detail }) => detail !== null));
      expect(last(server)).to.include({ version_info: '', response_nonce: 'n1' });
      expect(served(sds)).to.equal(undefined);
      expect(statusOf().reason).to.match(reason);
    });
  }

  const foreign: [what: string, options: Partial<DiscoveryOptions>, reason: RegExp][] = [
    ['another type', { type: 'type.googleapis.com/other' }, /the response has the type 'type.googleapis.com\/other'/],
    [
      'a resource of another type',
      { others: () => [{ type_url: 'type.googleapis.com/other', value: Buffer.alloc(0) }] },
      /the response contains a resource of type/,
    ],
  ];
  for (const [what, options, reason] of foreign) {
    it(`are missing if the response has ${what}`, async () => {
      secrets = { pair: pairSecret(pair('server')) };
      const server = await discovery(options);
      const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR };
      await serve(upstreamWith({ sds }));
      await until(() => last(server)?.error_detail?.message.match(reason) !== undefined);
      expect(served(sds)).to.equal(undefined);
    });
  }

  it('are rejected at most once a second', async () => {
    secrets = { pair: pairSecret({ ...pair('server'), cert: 'none' }) };
    const server = await discovery({ onRejected: (again) => again() });
    const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR };
    const began = performance.now();
    await serve(upstreamWith({ sds }));
    const rejections = () => server.requests.filter(({ error_detail: detail }) => detail !== null).length;
    await until(() => rejections() === 2);
    expect(performance.now() - began).to.be.above(900);
    secrets = { pair: pairSecret(pair('server')) };
    await until(() => statusOf().state === 'Accepted');
  });

  it('do not delay others of the same server', async () => {
    secrets = { pair: pairSecret(pair('server')), bad: pairSecret({ ...pair('server'), cert: 'none' }) };
    const { port } = await discovery();
    const targetUri = `127.0.0.1:${port}`;
    const bad = upstreamWith({ sds: { targetUri, certificatesSecretName: 'bad' } }, 'bad');
    await serve(upstreamWith({ sds: { targetUri, ...PAIR } }), bad);
    await until(() => statusOf().state === 'Accepted' && /PEM/.test(statusOf('bad').reason ?? ''));
  });

  it('are used once a server that was away starts, and again after it restarted', async () => {
    const port = await freePort();
    const targetUri = `127.0.0.1:${port}`;
    secrets = { pair: pairSecret(pair('server')) };
    await serve(upstreamWith({ sds: { targetUri, ...PAIR } }));
    await until(() => /secret discovery server 127.0.0.1:\d+: .*ECONNREFUSED/.test(statusOf().reason ?? ''));
    expect(statusOf().state).to.equal('Rejected');
    expect(statusOf().reason).not.to.include('Resolution note');
    const first = await discovery({ address: targetUri });
    await until(() => statusOf().state === 'Accepted');
    first.stop();
    await until(() => statusOf().state === 'Warning');
    expect(statusOf().reason).to.include('; the previous content stays in use');
    expect(served({ targetUri, ...PAIR })).to.equal(pem('server.crt'));
    secrets = { pair: pairSecret(pair('client')) };
    await discovery({ address: targetUri });
    await until(() => served({ targetUri, ...PAIR }) === pem('client.crt'));
    expect(statusOf().state).to.equal('Accepted');
  });

  it('are not requested any more without a resource that names them', async () => {
    secrets = { pair: pairSecret(pair('server')) };
    const server = await discovery();
    const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR };
    const source = await serve(upstreamWith({ sds }), upstreamWith({ sds }, 'b'));
    await until(() => served(sds) !== undefined);
    expect(server.metadata).to.have.length(1);
    source.delete('0');
    source.set('1', upstreamWith({}, 'b'));
    source.set('2', upstreamWith({}, 'c'));
    await until(() => server.open === 0);
  });

  it('close the connection to a server that no resource names any more', async () => {
    secrets = { pair: pairSecret(pair('server')) };
    const server = await discovery();
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => {
      const origin = connect(server.port, '127.0.0.1').on('error', () => {});
      sockets.add(socket.on('error', () => {}));
      socket.once('close', () => sockets.delete(socket));
      socket.pipe(origin).pipe(socket);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = proxy.address() as AddressInfo;
      const sds = { targetUri: `127.0.0.1:${port}`, ...PAIR };
      const source = await serve(upstreamWith({ sds }));
      await until(() => served(sds) !== undefined);
      expect(sockets.size).to.equal(1);
      source.delete('0');
      source.set('1', upstreamWith({}, 'b'));
      await until(() => sockets.size === 0);
    } finally {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    }
  });

  it('are still received for one of two users of a secret when the other is removed', async () => {
    secrets = { pair: pairSecret(pair('server')), roots: rootsSecret(pem('ca.crt')), own: pairSecret(pair('server')) };
    const server = await discovery();
    const targetUri = `127.0.0.1:${server.port}`;
    const shared = { targetUri, ...PAIR };
    const both = { targetUri, ...PAIR, validationContextName: 'roots' };
    const own = { targetUri, certificatesSecretName: 'own' };
    const source = await serve(
      upstreamWith({ sds: shared }),
      upstreamWith({ sds: both }, 'b'),
      upstreamWith({ sds: own }, 'c'),
    );
    await until(() => [shared, both, own].every((sds) => served(sds) !== undefined));
    expect(server.open).to.equal(3);
    source.delete('0');
    source.delete('2');
    // What a change removes is served until it is translated, and dropped with the next change.
    source.set('3', upstreamWith({}, 'd'));
    // The secret that nobody else uses is not requested any more; the shared one is.
    await until(() => server.open < 3);
    secrets = { ...secrets, pair: pairSecret(pair('client')) };
    server.push();
    await until(() => served(both) === pem('client.crt'));
    expect(server.open).to.equal(2);
  });

  it('are not requested by a check on another machine', async () => {
    secrets = {};
    const server = await discovery();
    const sds = { targetUri: `127.0.0.1:${server.port}`, ...PAIR };
    controlPlane = createControlPlane({ source: memorySource({ a: upstreamWith({ sds }) }), certificateFiles: false });
    await controlPlane.start();
    expect(statusOf().state).to.equal('Accepted');
    expect(controlPlane.secrets.sds).to.equal(undefined);
  });

  describe('with a folder', () => {
    let dir: string;
    beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'sds-server-'))));
    afterEach(() => rmSync(dir, { recursive: true, force: true }));

    it('are requested over a Unix socket', async () => {
      secrets = { pair: pairSecret(pair('server')) };
      const targetUri = `unix:${join(dir, 'sds.sock')}`;
      await discovery({ address: targetUri });
      await serve(upstreamWith({ sds: { targetUri, ...PAIR } }));
      await until(() => served({ targetUri, ...PAIR }) === pem('server.crt'));
    });

    it('are requested with the token of a file', async () => {
      secrets = { pair: pairSecret(pair('server')) };
      const server = await discovery();
      const tokenFileName = join(dir, 'token');
      const targetUri = `127.0.0.1:${server.port}`;
      const callCredentials = { fileCredentialSource: { tokenFileName, header: 'x-token' } };
      await serve(upstreamWith({ sds: { targetUri, callCredentials, ...PAIR } }));
      await until(() => statusOf().reason?.includes(`the token file ${tokenFileName} cannot be read`) === true);
      writeFileSync(tokenFileName, 'secret\u0000token');
      await until(() => statusOf().reason?.includes('contains no token of visible ASCII') === true);
      expect(statusOf().reason).not.to.include('secret\u0000');
      writeFileSync(tokenFileName, 'secret-token\n');
      await until(() => statusOf().state === 'Accepted');
      expect(server.metadata.map((each) => each.get('x-token'))).to.deep.equal([['secret-token']]);
    });
  });

  it('are requested from an upstream with its TLS', async () => {
    secrets = { pair: pairSecret(pair('client')) };
    const { cert, key } = pair('server');
    const credentials = ServerCredentials.createSsl(null, [
      { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) },
    ]);
    const server = await discovery({ credentials });
    const sds = { clusterName: 'sds_gw-system', ...PAIR };
    const source = await serve(upstreamWith({ sds }));
    await until(
      () => statusOf().reason?.includes('server upstream sds_gw-system: the upstream does not exist') === true,
    );
    expect(statusOf().reason).to.include('sds.clusterName');
    const rootCa = join(CERTIFICATES, 'ca.crt');
    source.set('sds', upstreamWith({ sslFiles: { rootCa }, sni: 'localhost' }, 'sds', server.port));
    await until(() => served(sds) === pem('client.crt'));
    expect(statusOf().state).to.equal('Accepted');
  });
});
