import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { expect } from 'chai';
import { createContext, createControlPlane, memorySource } from '@edge-gateway/core';
import { createListeners, createRouter } from '../../../src/index.ts';
import {
  pairSecret,
  rootsSecret,
  startDiscovery,
  type DiscoveryServer,
  type Sent,
} from '../../../../core/test/source/discovery-server.ts';
import { closeAll, get, httpUpstream, listen, until, whenDone } from '../../forward/harness.ts';
import { certificatePath, certificates } from '../../upstream/certificates.ts';

const { ca, otherCa, server: serverPair, client } = certificates();
const fingerprint = (pem: string): string => new X509Certificate(pem).fingerprint256;
const inline = (text: string) => ({ inline_string: text });
const pairOf = ({ cert, key }: { cert: string; key: string }) => ({
  name: 'pair',
  tls_certificate: { certificate_chain: inline(cert), private_key: inline(key) },
});
const rootsOf = (pem: string) => ({ name: 'roots', validation_context: { trusted_ca: inline(pem) } });

const resource = (kind: string, name: string, spec: object): string => {
  const group = kind === 'Upstream' ? 'gw' : 'gateway';
  return JSON.stringify({
    apiVersion: `${group}.vendor.io/v1`,
    kind,
    metadata: { name, namespace: 'gw-system' },
    spec,
  });
};
const gatewayOf = (ssl: boolean, options: object = {}): string =>
  resource('Gateway', 'gateway-proxy', { bindAddress: '127.0.0.1', bindPort: 8443, ssl, httpGateway: { options } });
const toUpstream = { single: { upstream: { name: 'up' } } };
const serviceOf = (routeAction: object, more: object = {}): string => {
  const routes = [{ matchers: [{ prefix: '/' }], routeAction }];
  return resource('VirtualService', 'service', { ...more, virtualHost: { domains: ['*'], routes } });
};

/** Serves resources with the control plane that reads their files. */
async function serve(...documents: string[]) {
  const source = memorySource(Object.fromEntries(documents.map((text, i) => [`${i}.json`, text])));
  const controlPlane = createControlPlane({ source });
  const context = createContext({ secrets: controlPlane.secrets });
  const router = createRouter({ context });
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
  whenDone(async () => {
    await listeners.close();
    await router.close();
    await controlPlane.close();
  });
  let port = 0;
  let applied: Promise<void> = Promise.resolve();
  controlPlane.subscribe(({ snapshots }) => {
    const snapshot = snapshots.get('gateway-proxy')!;
    router.apply(snapshot);
    applied = listeners.apply(snapshot).then((results) => {
      port = results[0]?.port ?? port;
    });
  });
  await controlPlane.start();
  await applied;
  return {
    /** 0 until the listener is open. */
    get port() {
      return port;
    },
    url: `http://127.0.0.1:${port}/`,
    controlPlane,
  };
}

/** Returns the fingerprint of the certificate of a new handshake with a response, or `undefined` if there is none. */
function handshake(port: number, options: ConnectionOptions = {}): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false, ...options });
    let found: string | undefined;
    socket.once('data', () => {
      found = socket.getPeerX509Certificate()?.fingerprint256;
      socket.end();
    });
    socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'));
    socket.on('error', () => {});
    socket.on('close', () => resolve(found));
  });
}

async function tlsServer(options: ServerOptions = {}): Promise<number> {
  const origin = createServer({ ...serverPair, ...options }, (_req, res) => void res.end('secure'));
  origin.on('tlsClientError', () => {});
  whenDone(() => {
    origin.closeAllConnections();
    origin.close();
  });
  return listen(origin);
}

describe('certificates by secret discovery and from files', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'certificate-sources-'));
    file = join(dir, 'sds.json');
  });
  afterEach(async () => {
    await closeAll();
    rmSync(dir, { recursive: true, force: true });
  });

  function put(...resources: object[]): void {
    writeFileSync(join(dir, 'new'), JSON.stringify({ resources }));
    renameSync(join(dir, 'new'), file);
  }

  it('replaces a certificate under load, and keeps the last valid one', async () => {
    put(pairOf(serverPair));
    const port = await httpUpstream((_req, res) => res.end('hello'));
    const sds = { targetUri: `file://${file}`, certificatesSecretName: 'pair' };
    const upstream = resource('Upstream', 'up', { static: { hosts: [{ addr: '127.0.0.1', port }] } });
    const gw = await serve(gatewayOf(true), serviceOf(toUpstream, { sslConfig: { sds } }), upstream);
    expect(await handshake(gw.port)).to.equal(fingerprint(serverPair.cert));

    const seen = new Set<string | undefined>();
    const loading = new AbortController();
    const load = Array.from({ length: 4 }, async () => {
      while (!loading.signal.aborted) seen.add(await handshake(gw.port));
    });
    put(pairOf(client));
    await until(() => seen.has(fingerprint(client.cert)));
    put({ ...pairOf(serverPair), tls_certificate: { certificate_chain: inline(serverPair.cert) } });
    const status = () =>
      gw.controlPlane.state!.statuses.get('VirtualService/gw-system/service')!.statuses['gw-system']!;
    await until(() => status().state === 'Warning');
    loading.abort();
    await Promise.all(load);
    expect([...seen]).to.have.members([fingerprint(serverPair.cert), fingerprint(client.cert)]);
    expect(await handshake(gw.port)).to.equal(fingerprint(client.cert));
  });

  it('verifies clients against a validation context', async () => {
    put(pairOf(serverPair), rootsOf(ca));
    const port = await httpUpstream((_req, res) => res.end('hello'));
    const sds = { targetUri: file, certificatesSecretName: 'pair', validationContextName: 'roots' };
    const upstream = resource('Upstream', 'up', { static: { hosts: [{ addr: '127.0.0.1', port }] } });
    const gw = await serve(gatewayOf(true), serviceOf(toUpstream, { sslConfig: { sds } }), upstream);
    expect(await handshake(gw.port)).to.equal(undefined);
    expect(await handshake(gw.port, client)).to.equal(fingerprint(serverPair.cert));
  });

  it('does not serve a certificate without a name', async () => {
    const gw = await serve(
      gatewayOf(true),
      serviceOf({ clusterHeader: 'x' }, { sslConfig: { sds: { targetUri: file } } }),
    );
    expect(gw.port).to.equal(0);
    const { statuses } = gw.controlPlane.state!;
    const status = statuses.get('VirtualService/gw-system/service')!.statuses['gw-system']!;
    expect(status.reason).to.include('sds needs certificatesSecretName');
  });

  it('verifies upstreams and presents a client certificate, even with oneWayTls', async () => {
    const port = await tlsServer({ ca, requestCert: true });
    const sds = { targetUri: file, certificatesSecretName: 'pair', validationContextName: 'roots' };
    const statusWith = async (...secrets: object[]): Promise<number> => {
      put(...secrets);
      const spec = {
        static: { hosts: [{ addr: '127.0.0.1', port }] },
        sslConfig: { sds, sni: 'localhost', oneWayTls: true },
      };
      const gw = await serve(gatewayOf(false), serviceOf(toUpstream), resource('Upstream', 'up', spec));
      return (await get(gw.url)).status;
    };
    expect(await statusWith(pairOf(client), rootsOf(ca))).to.equal(200);
    expect(await statusWith(pairOf(client), rootsOf(otherCa))).to.equal(503);
    expect(await statusWith(rootsOf(ca))).to.equal(503);
  });

  describe('of a discovery server', () => {
    let secrets: Record<string, Sent>;
    let server: DiscoveryServer | undefined;
    afterEach(() => {
      server?.stop();
      server = undefined;
    });
    const discover = async (address?: string): Promise<number> => {
      server = await startDiscovery({ secrets: () => secrets, ...(address && { address }) });
      return server.port;
    };
    const named = (name: string, sniDomains: string[], sslConfig: object): string =>
      resource('VirtualService', name, {
        sslConfig: { ...sslConfig, sniDomains },
        virtualHost: {
          domains: sniDomains,
          routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200 } }],
        },
      });

    it('leaves other certificates alone while the server is away, and is used once it starts', async () => {
      const unused = createTcpServer();
      const targetUri = `127.0.0.1:${await listen(unused)}`;
      unused.close();
      const gw = await serve(
        gatewayOf(true),
        named('away', ['away.example.com'], { sds: { targetUri, certificatesSecretName: 'pair' } }),
        named('there', ['localhost'], {
          sslFiles: { tlsCert: certificatePath('server.crt'), tlsKey: certificatePath('server.key') },
        }),
      );
      expect(await handshake(gw.port)).to.equal(fingerprint(serverPair.cert));
      expect(await handshake(gw.port, { servername: 'away.example.com' })).to.equal(undefined);
      const status = () => gw.controlPlane.state!.statuses.get('VirtualService/gw-system/away')!.statuses['gw-system']!;
      await until(() => status().reason?.includes('ECONNREFUSED') === true);
      expect(await handshake(gw.port)).to.equal(fingerprint(serverPair.cert));
      secrets = { pair: pairSecret(client) };
      await discover(targetUri);
      await until(() => status().reason?.includes('does not cover away.example.com') === true);
      expect(status().reason).to.not.include('ECONNREFUSED');
      expect(await handshake(gw.port, { servername: 'away.example.com' })).to.equal(fingerprint(client.cert));
      expect(await handshake(gw.port)).to.equal(fingerprint(serverPair.cert));
    });

    it('is replaced without dropping connections', async () => {
      secrets = { pair: pairSecret(serverPair) };
      const targetUri = `127.0.0.1:${await discover()}`;
      const gw = await serve(
        gatewayOf(true),
        named('rotated', ['localhost'], { sds: { targetUri, certificatesSecretName: 'pair' } }),
      );
      const status = () =>
        gw.controlPlane.state!.statuses.get('VirtualService/gw-system/rotated')!.statuses['gw-system']!;
      await until(() => status().state === 'Accepted' && gw.port > 0);
      const socket = connect({ port: gw.port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
      const ask = async (): Promise<string> => {
        socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
        const [data] = (await once(socket, 'data')) as [Buffer];
        return data.toString('latin1', 0, 15);
      };
      await once(socket, 'secureConnect');
      expect(await ask()).to.equal('HTTP/1.1 200 OK');
      secrets = { pair: pairSecret(client) };
      server!.push();
      let seen: string | undefined;
      while (seen !== fingerprint(client.cert)) seen = await handshake(gw.port);
      secrets = { pair: pairSecret({ ...client, cert: 'none' }) };
      server!.push();
      await until(() => status().state === 'Warning');
      expect(await handshake(gw.port)).to.equal(fingerprint(client.cert));
      expect(await ask()).to.equal('HTTP/1.1 200 OK');
      socket.destroy();
    });

    it('verifies upstreams, which are never connected without it', async () => {
      const port = await tlsServer();
      secrets = {};
      const targetUri = `127.0.0.1:${await discover()}`;
      const sslConfig = { sds: { targetUri, validationContextName: 'roots' }, sni: 'localhost' };
      const spec = { static: { hosts: [{ addr: '127.0.0.1', port }] }, sslConfig };
      const gw = await serve(gatewayOf(false), serviceOf(toUpstream), resource('Upstream', 'up', spec));
      const status = () => gw.controlPlane.state!.statuses.get('Upstream/gw-system/up')!.statuses['gw-system']!;
      expect((await get(gw.url)).status).to.equal(503);
      secrets = { roots: rootsSecret(otherCa) };
      server!.push();
      await until(() => status().state === 'Accepted');
      expect((await get(gw.url)).status).to.equal(503);
      secrets = { roots: rootsSecret(ca) };
      server!.push();
      while ((await get(gw.url)).body !== 'secure');
    });
  });

  for (const [name, sslConfig] of [
    ['files', (root: string) => ({ sslFiles: { rootCa: certificatePath(root) } })],
    [
      'secret discovery',
      (root: string) => {
        put(rootsOf(root === 'ca.crt' ? ca : otherCa));
        return { sds: { targetUri: file, validationContextName: 'roots' } };
      },
    ],
  ] as const) {
    it(`connects to failover endpoints with root certificates from ${name}`, async () => {
      const port = await tlsServer();
      const unused = createTcpServer();
      const deadPort = await listen(unused);
      unused.close();
      const check = { timeout: '1s', interval: '0.1s', unhealthyThreshold: 1, healthyThreshold: 1 };
      const upstreamSslConfig = { ...sslConfig('ca.crt'), sni: 'localhost' };
      const lbEndpoints = [{ address: '127.0.0.1', port, upstreamSslConfig }];
      const spec = {
        static: { hosts: [{ addr: '127.0.0.1', port: deadPort }] },
        failover: { prioritizedLocalities: [{ localityEndpoints: [{ lbEndpoints }] }] },
        healthChecks: [{ ...check, tcpHealthCheck: {} }],
      };
      const gw = await serve(gatewayOf(false), serviceOf(toUpstream), resource('Upstream', 'up', spec));
      let body = '';
      while (body !== 'secure') ({ body } = await get(gw.url));
    });

    it(`verifies an HTTP proxy with root certificates from ${name}`, async () => {
      const port = await httpUpstream((_req, res) => res.end('hello'));
      const proxy = createServer(serverPair);
      const sockets: Socket[] = [];
      proxy.on('connect', (_req, socket: Socket) => {
        const origin = connectTcp(port, '127.0.0.1');
        sockets.push(socket, origin);
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(origin).pipe(socket);
      });
      proxy.on('tlsClientError', () => {});
      const proxyPort = await listen(proxy);
      whenDone(() => {
        for (const socket of sockets) socket.destroy();
        proxy.close();
      });
      const statusWith = async (root: string): Promise<number> => {
        const spec = {
          static: { hosts: [{ addr: 'localhost', port: proxyPort }] },
          httpProxyHostname: 'api.example.com:80',
          httpConnectSslConfig: sslConfig(root),
        };
        const gw = await serve(gatewayOf(false), serviceOf(toUpstream), resource('Upstream', 'up', spec));
        return (await get(gw.url)).status;
      };
      expect(await statusWith('ca.crt')).to.equal(200);
      expect(await statusWith('other-ca.crt')).to.equal(503);
    });

    it(`verifies hosts that requests name with root certificates from ${name}`, async () => {
      const port = await tlsServer();
      const statusWith = async (root: string): Promise<number> => {
        const dynamicForwardProxy = { sslConfig: sslConfig(root), allowedAddresses: ['127.0.0.0/8', '::1'] };
        const action = { dynamicForwardProxy: { hostRewrite: `localhost:${port}` } };
        const gw = await serve(gatewayOf(false, { dynamicForwardProxy }), serviceOf(action));
        return (await get(gw.url)).status;
      };
      expect(await statusWith('ca.crt')).to.equal(200);
      expect(await statusWith('other-ca.crt')).to.equal(503);
    });
  }

  it('reports missing files at the field that names them', async () => {
    const sslFiles = { rootCa: '/nowhere/ca.crt' };
    const dynamicForwardProxy = { sslConfig: { sslFiles } };
    const unused = createTcpServer();
    const port = await listen(unused);
    unused.close();
    const spec = {
      static: { hosts: [{ addr: '127.0.0.1', port }] },
      httpProxyHostname: 'api.example.com:80',
      httpConnectSslConfig: { sslFiles },
    };
    const upstream = resource('Upstream', 'up', spec);
    const gw = await serve(gatewayOf(false, { dynamicForwardProxy }), serviceOf(toUpstream), upstream);
    const paths = gw.controlPlane.state!.issues.map(({ path }) => path.join('.'));
    expect(paths).to.have.members([
      'spec.httpConnectSslConfig.sslFiles.rootCa',
      'spec.httpGateway.options.dynamicForwardProxy.sslConfig.sslFiles.rootCa',
    ]);
    expect((await get(gw.url)).status).to.equal(503);
  });
});
