import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { createContext, type TlsConfiguration } from '@edge-gateway/core';
import { createListeners, type ListenLimits, type Listeners } from '../../../src/index.ts';
import { certificatePath, certificates, secretsOf } from '../../upstream/certificates.ts';
import { http2Client } from '../http2/client.ts';
import { exchange, listenerOf, snapshotOf } from '../serving.ts';
import { until } from '../../../../../test/parts/until.ts';
import { configuration, GET, listenerStat, pair, sessionOf, VERSIONS, visit } from './tls-client.ts';
import { leaveHandshakes } from './unfinished-handshake.ts';

const { ca, otherCa, server, client, expired } = certificates();
const fingerprint = (pem: string): string => new X509Certificate(pem).fingerprint256;
const SERVER = fingerprint(server.cert);
const CLIENT = fingerprint(client.cert);
const EXPIRED = fingerprint(expired.cert);

/** Instead of a status: the connection was closed, or the stream refused. */
const NOT_SERVED = 0;

/** Returns the protocol that a handshake chose; `undefined` if it failed. */
async function alpnOf(port: number, ALPNProtocols: string[]): Promise<string | false | null | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols });
  return await new Promise((resolve) => {
    socket.once('error', () => resolve(undefined));
    socket.once('secureConnect', () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
  });
}

describe('TLS listeners', () => {
  const secrets = secretsOf({});
  const context = createContext({ secrets });
  let listeners: Listeners;
  let port: number;
  let served = 0;
  /** Resolves with what ends the response to `/held`. */
  let held = Promise.withResolvers<() => void>();

  async function apply(...sslConfigurations: TlsConfiguration[]): Promise<string | undefined> {
    const [result] = await listeners.apply(snapshotOf(listenerOf({ ssl: true, sslConfigurations })));
    if (result!.port !== undefined) port = result!.port;
    return result!.error?.message;
  }

  beforeEach(() => {
    served = 0;
    held = Promise.withResolvers();
    secrets.set('one', pair(server));
    secrets.set('two', pair(client));
    secrets.set('three', pair(expired));
    secrets.set('mutual', { ...pair(server), 'ca.crt': ca });
    listeners = create({ handshakeTimeoutMs: 60_000 });
  });
  afterEach(() => listeners.close());

  it('closes a connection with its first response when its handshake ends while the listener drains', async () => {
    await apply(configuration('one'));
    const tcp = connectTcp(port, '127.0.0.1');
    await once(tcp, 'connect');
    await visit(port);
    const drained = listeners.drain(60_000);
    const socket = connect({ socket: tcp, servername: 'api.example.com', rejectUnauthorized: false });
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    await once(socket, 'secureConnect');
    socket.write('GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n');
    await once(socket, 'close');
    expect(answer)
      .to.match(/^HTTP\/1\.1 200/)
      .and.to.match(/\r\nconnection: close\r\n/i);
    await drained;
  });

  it('closes a connection that completes its handshake while the listener drains and sends nothing', async () => {
    await apply(configuration('one'));
    const tcp = connectTcp(port, '127.0.0.1');
    await once(tcp, 'connect');
    await visit(port);
    const began = Date.now();
    const drained = listeners.drain(60_000);
    const socket = connect({ socket: tcp, servername: 'api.example.com', rejectUnauthorized: false });
    socket.resume();
    await once(socket, 'close');
    await drained;
    expect(Date.now() - began).to.be.lessThan(30_000);
  });

  const create = (limits: Partial<ListenLimits>): Listeners =>
    createListeners({
      router: {
        listener: () => (req, res) => {
          served++;
          const end = (): void => void res.end('hello');
          if (req.url === '/held') held.resolve(end);
          else end();
        },
      },
      context,
      host: '127.0.0.1',
      portOf: () => 0,
      limits,
    });

  it('chooses the certificate by server name: exact, longest wildcard, any', async () => {
    await apply(
      configuration('three'),
      configuration('two', ['*.example.com']),
      configuration('one', ['api.example.com']),
    );
    expect((await visit(port))?.certificate).to.equal(SERVER);
    expect((await visit(port, { host: 'API.example.com' }))?.certificate).to.equal(SERVER);
    expect((await visit(port, { host: 'www.example.com' }))?.certificate).to.equal(CLIENT);
    expect((await visit(port, { host: 'example.com' }))?.certificate).to.equal(EXPIRED);
    expect((await visit(port, { servername: '' }))?.certificate).to.equal(EXPIRED);
  });

  it('rejects a server name for which it has no certificate, and a client that names none', async () => {
    await apply(configuration('one', ['api.example.com']));
    expect(await visit(port, { host: 'other.example.com' })).to.equal(undefined);
    expect(await visit(port, { servername: '' })).to.equal(undefined);
    expect((await visit(port))?.certificate).to.equal(SERVER);
  });

  it('reads certificates from files', async () => {
    const sslFiles = { tlsCert: certificatePath('server.crt'), tlsKey: certificatePath('server.key') };
    await apply({ sniDomains: [], sslConfig: { sslFiles } });
    expect((await visit(port))?.certificate).to.equal(SERVER);
  });

  it('swaps a certificate under load: no handshake fails, open connections go on, new ones get the new one', async () => {
    const mine = configuration('one');
    await apply(mine);
    const before = connect({ port, host: '127.0.0.1', servername: 'api.example.com', rejectUnauthorized: false });
    await once(before, 'secureConnect');
    const seen: (string | undefined)[] = [];
    const loading = new AbortController();
    const load = Array.from({ length: 8 }, async () => {
      while (!loading.signal.aborted) seen.push((await visit(port))?.certificate);
    });
    for (let i = 0; i < 10; i++) {
      secrets.set('one', pair(i % 2 === 0 ? expired : server));
      expect(await apply(mine)).to.equal(undefined);
      const wanted = i % 2 === 0 ? EXPIRED : SERVER;
      expect((await visit(port))?.certificate).to.equal(wanted);
    }
    loading.abort();
    await Promise.all(load);
    expect(seen.filter((each) => each !== SERVER && each !== EXPIRED)).to.deep.equal([]);
    expect(new Set(seen).size).to.equal(2);
    before.write(GET('api.example.com'));
    const [answer] = (await once(before, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200/);
    before.destroy();
  });

  it('rejects a mismatched pair and keeps the previous one', async () => {
    const mine = configuration('one');
    await apply(mine);
    secrets.set('one', { 'tls.crt': server.cert, 'tls.key': client.key });
    const error = await apply(mine);
    expect(error).to.include('secret gw-system.one: the private key does not belong to the certificate');
    expect(error).not.to.include('BEGIN');
    expect((await visit(port))?.certificate).to.equal(SERVER);
    secrets.set('one', { 'tls.crt': 'nonsense', 'tls.key': server.key });
    expect(await apply(mine)).to.be.a('string');
    secrets.set('one', undefined);
    expect(await apply(mine)).to.include('SSL secret not found');
    expect((await visit(port))?.certificate).to.equal(SERVER);
  });

  it('serves the other certificates when one is missing', async () => {
    expect(
      await apply(configuration('missing', ['www.example.com']), configuration('one', ['api.example.com'])),
    ).to.include('missing');
    expect((await visit(port))?.certificate).to.equal(SERVER);
    expect(await visit(port, { host: 'www.example.com' })).to.equal(undefined);
  });

  it('does not listen without any certificate, and does when there is one', async () => {
    expect(await apply(configuration('missing'))).to.include('SSL secret not found');
    expect(listeners.addresses()).to.deep.equal([]);
    secrets.set('missing', pair(server));
    expect(await apply(configuration('missing'))).to.equal(undefined);
    expect((await visit(port))?.certificate).to.equal(SERVER);
  });

  describe('that verify clients', () => {
    const mine = configuration('mutual');

    it('reject a client without a certificate before anything is served', async () => {
      await apply(mine);
      expect(await visit(port)).to.equal(undefined);
      expect(await visit(port, { maxVersion: 'TLSv1.2' })).to.equal(undefined);
      expect(served).to.equal(0);
    });

    it('accept certificates of their authority only', async () => {
      await apply(mine);
      expect((await visit(port, client))?.answer).to.include('hello');
      secrets.set('mutual', { ...pair(server), 'ca.crt': otherCa });
      await apply(mine);
      expect(await visit(port, client)).to.equal(undefined);
      expect(served).to.equal(1);
    });

    it('reject an expired certificate', async () => {
      await apply(mine);
      expect(await visit(port, expired)).to.equal(undefined);
      expect(served).to.equal(0);
    });

    it('request no certificate with oneWayTls', async () => {
      await apply(configuration('mutual', [], { oneWayTls: true }));
      expect((await visit(port))?.answer).to.include('hello');
    });

    it('accept only the listed alternative names', async () => {
      await apply(configuration('mutual', [], { verifySubjectAltName: ['spiffe://example.com/api'] }));
      expect((await visit(port, server))?.answer).to.include('hello');
      await apply(configuration('mutual', [], { verifySubjectAltName: ['spiffe://example.com/ap', 'example.com'] }));
      expect(await visit(port, server)).to.equal(undefined);
    });

    it('reject a list of names without a root CA', async () => {
      expect(await apply(configuration('one', [], { verifySubjectAltName: ['a'] }))).to.include('needs a root CA');
    });

    it('are not reached by their host over a connection made under another name', async () => {
      await apply(configuration('mutual', ['api.example.com']), configuration('one', ['www.example.com']));
      const through = await visit(port, { host: 'api.example.com', servername: 'www.example.com' });
      expect(through?.answer)
        .to.match(/^HTTP\/1\.1 421 /)
        .and.to.include('ERR_ROUTING_MISDIRECTED');
      const page = await visit(port, {
        host: 'api.example.com',
        servername: 'www.example.com',
        headers: 'sec-fetch-mode: navigate\r\n',
      });
      expect(page?.answer)
        .to.match(/^HTTP\/1\.1 421 [^]*content-type: text\/html[^]*<h1>/)
        .and.to.include('ERR_ROUTING_MISDIRECTED');
      expect(served).to.equal(0);
      expect((await visit(port, { host: 'www.example.com' }))?.answer).to.include('hello');
    });

    for (const version of ['HTTP/1.1', 'HTTP/2'] as const) {
      it(`are required of connections of ${version} that are older than the requirement`, async () => {
        const { statusOf, closed } = await openConnection(version);
        expect(await statusOf('api.example.com')).to.equal(200);
        // Another certificate, but the same clients.
        await apply(configuration('two', ['api.example.com']), configuration('three', ['www.example.com']));
        expect(await statusOf('api.example.com')).to.equal(200);
        served = 0;
        await apply(configuration('mutual', ['api.example.com']), configuration('three', ['www.example.com']));
        expect(await statusOf('api.example.com')).to.be.oneOf([421, NOT_SERVED]);
        expect(served).to.equal(0);
        await closed;
      });

      it(`are required of connections of ${version} after the request in progress`, async () => {
        const { statusOf, closed } = await openConnection(version);
        const status = statusOf('api.example.com', '/held');
        const release = await held.promise;
        await apply(configuration('mutual', ['api.example.com']), configuration('three', ['www.example.com']));
        release();
        expect(await status).to.equal(200);
        await closed;
        expect(served).to.equal(1);
      });

      it(`are required of no connections of ${version} under other names`, async () => {
        const { statusOf } = await openConnection(version, {}, 'www.example.com');
        await apply(configuration('mutual', ['api.example.com']), configuration('three', ['www.example.com']));
        expect(await statusOf('www.example.com')).to.equal(200);
        served = 0;
        expect(await statusOf('api.example.com')).to.equal(421);
        expect(served).to.equal(0);
      });

      it(`are verified again on connections of ${version} once their authority changes, but not their certificate`, async () => {
        secrets.set('one', { ...pair(server), 'ca.crt': ca });
        const { statusOf, closed } = await openConnection(version, client);
        expect(await statusOf('api.example.com')).to.equal(200);
        secrets.set('one', { ...pair(client), 'ca.crt': ca });
        await apply(configuration('one', ['api.example.com']), configuration('three', ['www.example.com']));
        expect(await statusOf('api.example.com')).to.equal(200);
        secrets.set('one', { ...pair(client), 'ca.crt': otherCa });
        served = 0;
        await apply(configuration('one', ['api.example.com']), configuration('three', ['www.example.com']));
        expect(await statusOf('api.example.com')).to.be.oneOf([421, NOT_SERVED]);
        expect(served).to.equal(0);
        await closed;
      });
    }

    /** Opens a connection for a name; the result asks for a host on it and returns the status, and `closed` resolves at its end. */
    async function openConnection(
      version: 'HTTP/1.1' | 'HTTP/2',
      own: { readonly cert?: string; readonly key?: string } = {},
      servername = 'api.example.com',
    ): Promise<{ statusOf(host: string, path?: string): Promise<number>; closed: Promise<unknown> }> {
      await apply(configuration('one', ['api.example.com']), configuration('three', ['www.example.com']));
      if (version === 'HTTP/2') {
        const options = { servername, rejectUnauthorized: false, cert: own.cert, key: own.key };
        const session = connectHttp2(`https://127.0.0.1:${port}`, options);
        session.on('error', () => {});
        await once(session, 'connect');
        return {
          closed: once(session, 'close'),
          async statusOf(host, path = '/') {
            if (session.closed || session.destroyed) return NOT_SERVED;
            const stream = session.request({ ':authority': host, ':path': path }).on('error', () => {});
            let status = NOT_SERVED;
            stream.once('response', (headers: IncomingHttpHeaders) => (status = Number(headers[':status'])));
            stream.resume();
            await new Promise((resolve) => stream.once('close', resolve));
            return status;
          },
        };
      }
      const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...own });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      const closed = new Promise((resolve) => socket.once('close', resolve));
      return {
        closed,
        async statusOf(host, path = '/') {
          let text = '';
          const receive = (chunk: Buffer): void => void (text += chunk.toString('latin1'));
          socket.on('data', receive);
          socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
          while (!/\r\n\r\n[^]/.test(text) && !socket.destroyed)
            await Promise.race([once(socket, 'data').catch(() => {}), closed]);
          socket.off('data', receive);
          return text === '' ? NOT_SERVED : Number(text.split(' ')[1]);
        },
      };
    }

    it('are not reached by resuming a session made under another name', async () => {
      await apply(configuration('mutual', ['api.example.com']), configuration('one', ['www.example.com']));
      for (const maxVersion of VERSIONS) {
        const session = await sessionOf(port, 'www.example.com', maxVersion);
        served = 0;
        expect(await visit(port, { session, maxVersion })).to.equal(undefined);
      }
      expect(served).to.equal(0);
    });
  });

  it('supports the configured TLS versions, by default 1.2 and 1.3', async () => {
    await apply(configuration('one'));
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await visit(port, old)).to.equal(undefined);
    expect((await visit(port, { maxVersion: 'TLSv1.2' }))?.protocol).to.equal('TLSv1.2');
    await apply(
      configuration('one', ['api.example.com'], { parameters: { minimumProtocolVersion: 'TLSv1_3' } }),
      configuration('two', [], { parameters: { maximumProtocolVersion: 'TLSv1_2' } }),
    );
    expect(await visit(port, { maxVersion: 'TLSv1.2' })).to.equal(undefined);
    expect((await visit(port))?.protocol).to.equal('TLSv1.3');
    expect((await visit(port, { host: 'a.b', maxVersion: 'TLSv1.2' }))?.protocol).to.equal('TLSv1.2');
    await apply(
      configuration('one', ['api.example.com']),
      configuration('two', [], { parameters: { maximumProtocolVersion: 'TLSv1_2' } }),
    );
    expect(await visit(port, { host: 'a.b' })).to.equal(undefined);
    expect((await visit(port))?.protocol).to.equal('TLSv1.3');
  });

  it('uses the configured cipher suites', async () => {
    const cipherSuites = ['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'];
    await apply(configuration('one', [], { parameters: { cipherSuites, maximumProtocolVersion: 'TLSv1_2' } }));
    expect((await visit(port))?.answer).to.include('hello');
    const other = 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256';
    expect(await visit(port, { ciphers: other, maxVersion: 'TLSv1.2' })).to.equal(undefined);
    const error = await apply(configuration('one', [], { parameters: { cipherSuites: ['NONSENSE'] } }));
    expect(error).to.be.a('string');
  });

  it('resumes sessions unless disabled', async () => {
    await apply(configuration('one'));
    const session = await sessionOf(port, 'api.example.com', 'TLSv1.3');
    expect((await visit(port, { session }))?.reused).to.equal(true);
    await apply(configuration('one', [], { disableTlsSessionResumption: true }));
    for (const maxVersion of VERSIONS) {
      const none = await sessionOf(port, 'api.example.com', maxVersion);
      expect((await visit(port, { session: none, maxVersion }))?.reused).to.equal(false);
    }
  });

  it('offers HTTP/2 and HTTP/1.1, or nothing if configured', async () => {
    await apply(configuration('one'));
    expect(await alpnOf(port, ['http/1.1', 'h2'])).to.equal('h2');
    expect(await alpnOf(port, ['http/1.1'])).to.equal('http/1.1');
    expect(await alpnOf(port, ['other'])).to.equal(undefined);
    await apply(configuration('one', [], { alpnProtocols: ['allow_empty'] }));
    expect(await alpnOf(port, ['h2'])).to.equal(false);
  });

  it('offers the protocols that codecType allows', async () => {
    const listener = (codecType: 'HTTP1' | 'HTTP2') =>
      snapshotOf(
        listenerOf({
          ssl: true,
          sslConfigurations: [configuration('one')],
          httpOptions: { httpConnectionManagerSettings: { codecType } },
        }),
      );
    const [http1] = await listeners.apply(listener('HTTP1'));
    expect(await alpnOf(http1!.port!, ['h2', 'http/1.1'])).to.equal('http/1.1');
    expect(await alpnOf(http1!.port!, ['h2'])).to.equal(undefined);
    await listeners.apply(listener('HTTP2'));
    expect(await alpnOf(http1!.port!, ['http/1.1', 'h2'])).to.equal('h2');
    expect(await alpnOf(http1!.port!, ['http/1.1'])).to.equal(undefined);
  });

  it('serves clients that choose HTTP/2, with the certificate of their server name', async () => {
    await apply(configuration('one'));
    const { ask, session, close } = await http2Client(port, { tls: true, servername: 'api.example.com' });
    const { status, body } = await ask('/');
    expect([status, body, session.alpnProtocol]).to.deep.equal([200, 'hello', 'h2']);
    close();
  });

  it('serves clients that begin with HTTP/2 without ALPN', async () => {
    await apply(configuration('one'));
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const session = connectHttp2('http://127.0.0.1', { createConnection: () => socket });
    const stream = session.request({ ':path': '/', ':authority': 'a' });
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(head[':status']).to.equal(200);
    session.destroy();
  });

  it('offers the configured protocols by server name', async () => {
    await apply(configuration('one', [], { alpnProtocols: ['custom', 'h2', 'http/1.1'] }));
    expect(await alpnOf(port, ['h2', 'http/1.1', 'custom'])).to.equal('custom');
    await apply(
      configuration('one', ['one.example.com'], { alpnProtocols: ['custom'] }),
      configuration('two', ['two.example.com'], { alpnProtocols: ['allow_empty'] }),
    );
    const ALPNProtocols = ['custom', 'http/1.1'];
    expect((await visit(port, { host: 'one.example.com', ALPNProtocols }))?.alpn).to.equal('custom');
    expect((await visit(port, { host: 'two.example.com', ALPNProtocols }))?.alpn).to.equal('http/1.1');
    expect((await visit(port, { host: 'two.example.com' }))?.alpn).to.equal(false);
    expect(await visit(port, { host: 'one.example.com', ALPNProtocols: ['h2'] })).to.equal(undefined);
  });

  it('drains: an idle connection closes soon, new ones are rejected', async () => {
    await apply(configuration('one'));
    const idle = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }).resume();
    await once(idle, 'secureConnect');
    const closed = once(idle, 'close');
    await listeners.drain(60_000);
    await closed;
    expect(await visit(port)).to.equal(undefined);
  });

  it('closes connections without a handshake, or with plain HTTP', async () => {
    listeners = create({ handshakeTimeoutMs: 300 });
    await apply(configuration('one'));
    expect((await exchange(port)).text).to.equal('');
    expect((await exchange(port, GET('a'))).text).not.to.include('HTTP/1.1 200');
    expect(served).to.equal(0);
    expect(listenerStat(context, 'ssl.connection_error')).to.be.greaterThan(0);
  });

  for (const names of [[], ['api.example.com']]) {
    it(`closes connections whose clients leave during the handshake, ${names.length === 0 ? 'without' : 'with'} server names`, async () => {
      listeners = create({ handshakeTimeoutMs: 600_000 });
      await apply(configuration('one', names));
      await leaveHandshakes(port, 'api.example.com');
      await until(() => listenerStat(context, 'downstream_cx_active') === 0);
      expect((await visit(port))?.answer).to.include('200');
    });
  }
});
