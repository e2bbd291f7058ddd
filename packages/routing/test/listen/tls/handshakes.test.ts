import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { createContext, type Handler, type TlsConfiguration } from '@edge-gateway/core';
import { createListeners, type Listeners } from '../../../src/index.ts';
import { certificates, secretsOf } from '../../upstream/certificates.ts';
import { until } from '../../../../../test/parts/until.ts';
import { listenerOf, snapshotOf } from '../serving.ts';
import { startRelay, type Relay, type RelayOptions } from './relay.ts';
import { configuration, GET, listenerStat, pair, sessionOf, VERSIONS, visit } from './tls-client.ts';
import { recordClientHello } from './unfinished-handshake.ts';

const { ca, otherCa, server, client } = certificates();
const NAME = 'api.example.com';
/** Certificates for any server name are used without asking for the name, others are chosen by it. */
const TABLES: readonly (readonly [string, string[]])[] = [
  ['any server name', []],
  ['a server name', [NAME]],
];

/** A record of TLS with a header of this type and version. */
const tlsRecord = (type: number, version: number, body: Buffer, length = body.length): Buffer =>
  Buffer.concat([Buffer.from([type, version >> 8, version & 255, length >> 8, length & 255]), body]);

/** First bytes of clients that no handshake can begin with. */
const GARBAGE: Readonly<Record<string, Buffer>> = {
  'plain HTTP': Buffer.from(GET(NAME)),
  'the preface of HTTP/2': Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  zeros: Buffer.alloc(512),
  'bytes of no protocol': Buffer.alloc(512, 0xaa),
  'a record that is too long': tlsRecord(22, 0x0301, Buffer.alloc(64), 0xffff),
  'an empty handshake message': tlsRecord(22, 0x0301, Buffer.alloc(0)),
  'an unknown record type': tlsRecord(99, 0x0301, Buffer.alloc(16)),
  'an unknown version': tlsRecord(22, 0x0909, Buffer.alloc(16)),
  'application data': tlsRecord(23, 0x0303, Buffer.alloc(64)),
  'a change of the cipher': tlsRecord(20, 0x0303, Buffer.from([1])),
  'a fatal alert': tlsRecord(21, 0x0301, Buffer.from([2, 40])),
  'a heartbeat that asks for more than it sends': tlsRecord(24, 0x0302, Buffer.from([1, 0x40, 0])),
  'the hello of a server': tlsRecord(22, 0x0303, Buffer.concat([Buffer.from([2, 0, 0, 38, 3, 3]), Buffer.alloc(36)])),
  'a hello with lengths beyond its end': tlsRecord(22, 0x0301, Buffer.from([1, 0, 0, 6, 3, 3, 255, 255, 255, 255])),
  'a hello of SSL 2': Buffer.concat([Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10]), Buffer.alloc(37)]),
};

describe('TLS handshakes', () => {
  const secrets = secretsOf({});
  let context = createContext({ secrets });
  let listeners: Listeners;
  let port: number;
  let served: string[] = [];
  const relays: Relay[] = [];

  const handler: Handler = Object.assign(
    ((req, res) => {
      served.push(req.url ?? '');
      res.end('hello');
    }) satisfies Handler,
    {
      upgrade: ((_req, socket) => {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
        );
        socket.resume().on('end', () => setImmediate(() => socket.end('after the end')));
      }) satisfies NonNullable<Handler['upgrade']>,
    },
  );

  beforeEach(() => {
    context = createContext({ secrets });
    secrets.set('one', pair(server));
    secrets.set('two', pair(client));
    secrets.set('mutual', { ...pair(server), 'ca.crt': ca });
    served = [];
    listeners = createListeners({
      router: { listener: () => handler },
      context,
      host: '127.0.0.1',
      portOf: () => 0,
      limits: { handshakeTimeoutMs: 600_000 },
    });
  });
  afterEach(async () => {
    for (const relay of relays.splice(0)) relay.close();
    await listeners.close();
  });

  async function apply(...sslConfigurations: TlsConfiguration[]): Promise<void> {
    const [result] = await listeners.apply(snapshotOf(listenerOf({ ssl: true, sslConfigurations })));
    if (result!.error) throw result!.error;
    port = result!.port!;
  }

  async function relay(options?: RelayOptions): Promise<Relay> {
    const started = await startRelay(port, options);
    relays.push(started);
    return started;
  }

  const allClosed = () => until(() => listenerStat(context, 'downstream_cx_active') === 0);

  const open = (options: ConnectionOptions = {}): TLSSocket =>
    connect({ port, host: '127.0.0.1', servername: NAME, rejectUnauthorized: false, ...options }).on('error', () => {});

  const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

  for (const [table, names] of TABLES) {
    describe(`with a certificate for ${table}`, () => {
      beforeEach(() => apply(configuration('one', names)));

      for (const maxVersion of VERSIONS) {
        it(`succeed when all bytes arrive one by one (${maxVersion})`, async () => {
          const { port: slow } = await relay({ singleBytes: 1_000_000 });
          const facts = await visit(slow, { maxVersion });
          expect(facts).to.include({
            certificate: new X509Certificate(server.cert).fingerprint256,
            protocol: maxVersion,
          });
          expect(facts!.answer).to.match(/^HTTP\/1\.1 200 /);
        });

        for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
          it(`release the connection of a client that leaves directly afterwards: ${leave} (${maxVersion})`, async () => {
            const transport = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {});
            await once(transport, 'connect');
            const socket = open({ socket: transport, maxVersion });
            await once(socket, 'secureConnect');
            socket.resume();
            if (leave === 'end') socket.end();
            else transport[leave]();
            await closed(socket);
            const ended = () => listenerStat(context, 'ssl.handshake') + listenerStat(context, 'ssl.connection_error');
            await until(() => ended() === 1);
            await allClosed();
            expect(served).to.deep.equal([]);
          });
        }

        it(`do not protect a connection that is tampered with later (${maxVersion})`, async () => {
          const between = await relay();
          const socket = open({ port: between.port, maxVersion });
          await once(socket, 'secureConnect');
          socket.resume();
          await until(() => listenerStat(context, 'ssl.handshake') === 1);
          between.inject(tlsRecord(23, 0x0303, Buffer.alloc(64, 7)));
          await closed(socket);
          await allClosed();
          expect(served).to.deep.equal([]);
          expect((await visit(port))?.answer).to.include('hello');
        });
      }

      for (const maxVersion of VERSIONS) {
        it(`resume sessions (${maxVersion})`, async () => {
          const session = await sessionOf(port, NAME, maxVersion);
          const facts = await visit(port, { session, maxVersion });
          expect(facts).to.include({ protocol: maxVersion, reused: true });
          expect(facts!.answer).to.match(/^HTTP\/1\.1 200 /);
        });
      }

      it('fail for clients that send something else, and leave the listener as it was', async () => {
        for (const [what, bytes] of Object.entries(GARBAGE)) {
          const before = listenerStat(context, 'ssl.connection_error');
          const socket = connectTcp({ port, host: '127.0.0.1' })
            .on('error', () => {})
            .resume();
          socket.write(bytes);
          // Some of it is valid as a beginning.
          socket.end();
          await closed(socket);
          await until(() => listenerStat(context, 'ssl.connection_error') === before + 1, what);
        }
        await allClosed();
        expect(served).to.deep.equal([]);
        expect(listenerStat(context, 'ssl.handshake')).to.equal(0);
        expect((await visit(port))?.answer).to.include('hello');
      });

      it('fail for a hello with any changed length, and leave the listener as it was', async () => {
        const hello = await recordClientHello({ servername: NAME });
        // The lengths of the record, the message, and the session id.
        for (const at of [3, 4, 6, 7, 8, 43]) {
          const bytes = Buffer.from(hello);
          bytes[at] = bytes[at]! ^ 0x7f;
          const before = listenerStat(context, 'ssl.connection_error');
          const socket = connectTcp({ port, host: '127.0.0.1' })
            .on('error', () => {})
            .resume();
          socket.write(bytes);
          socket.end();
          await closed(socket);
          await until(() => listenerStat(context, 'ssl.connection_error') === before + 1, `length at ${at}`);
        }
        await allClosed();
        expect((await visit(port))?.answer).to.include('hello');
      });

      it('are not repeated on a connection', async () => {
        const socket = open({ maxVersion: 'TLSv1.2' });
        await once(socket, 'secureConnect');
        const outcome = new Promise<string>((resolve) => {
          socket.once('error', () => resolve('rejected'));
          socket.once('close', () => resolve('rejected'));
          socket.renegotiate({ rejectUnauthorized: false }, () => resolve('repeated'));
        });
        expect(await outcome).to.equal('rejected');
        await allClosed();
        expect((await visit(port, { maxVersion: 'TLSv1.2' }))?.answer).to.include('hello');
      });

      it('let the client end its side of an upgraded connection and receive the rest', async () => {
        const socket = open({ allowHalfOpen: true } as ConnectionOptions);
        await once(socket, 'secureConnect');
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        const ended = once(socket, 'end');
        socket.write(
          `GET / HTTP/1.1\r\nHost: ${NAME}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
        );
        await until(() => text.endsWith('\r\n\r\n'));
        socket.end();
        await ended;
        expect(text).to.match(/^HTTP\/1\.1 101 [^]*\r\n\r\nafter the end$/);
      });
    });
  }

  for (const maxVersion of VERSIONS) {
    it(`negotiate the protocol of the server name again when a client returns (${maxVersion})`, async () => {
      await apply(
        configuration('one', [NAME], { alpnProtocols: ['custom'] }),
        configuration('two', ['www.example.com'], { alpnProtocols: ['http/1.1'] }),
      );
      const options = { maxVersion, ALPNProtocols: ['http/1.1', 'custom'] };
      const session = await sessionOf(port, NAME, maxVersion, options);
      expect(await visit(port, { ...options, session })).to.include({ alpn: 'custom' });
    });

    it(`resume sessions of the TLS version of their server name (${maxVersion})`, async () => {
      const other = maxVersion === 'TLSv1.2' ? 'TLSv1_3' : 'TLSv1_2';
      const only = (version: 'TLSv1_2' | 'TLSv1_3') => ({
        parameters: { minimumProtocolVersion: version, maximumProtocolVersion: version },
      });
      const own = maxVersion === 'TLSv1.2' ? 'TLSv1_2' : 'TLSv1_3';
      await apply(configuration('one', [NAME], only(own)), configuration('two', [], only(other)));
      const session = await sessionOf(port, NAME, maxVersion);
      expect(await visit(port, { maxVersion, session })).to.include({ protocol: maxVersion, reused: true });
    });
  }

  for (const maxVersion of VERSIONS) {
    describe(`of ${maxVersion} in progress`, () => {
      /** Begins a handshake of a client; `proceed` lets it continue. */
      async function begin() {
        const gate = Promise.withResolvers<void>();
        const between = await relay({ held: gate.promise });
        const result = visit(between.port, { maxVersion });
        await until(() => between.received() > 0);
        return { result, proceed: gate.resolve };
      }

      it('end with the certificate that they began with', async () => {
        await apply(configuration('one'));
        const { result, proceed } = await begin();
        secrets.set('one', pair(client));
        await apply(configuration('one'));
        proceed();
        expect(await result).to.include({ certificate: new X509Certificate(server.cert).fingerprint256 });
        expect(served).to.deep.equal(['/']);
      });

      it('give no access if client certificates are required meanwhile', async () => {
        await apply(configuration('one'));
        const { result, proceed } = await begin();
        await apply(configuration('mutual'));
        proceed();
        expect((await result)?.answer ?? 'HTTP/1.1 421 ').to.match(/^HTTP\/1\.1 421 /);
        await allClosed();
        expect(served).to.deep.equal([]);
      });

      it('end with the listener', async () => {
        await apply(configuration('one'));
        const { result, proceed } = await begin();
        await listeners.close();
        proceed();
        expect(await result).to.equal(undefined);
        await allClosed();
      });
    });
  }

  for (const maxVersion of VERSIONS) {
    for (const secret of [undefined, Buffer.alloc(32, 1)]) {
      describe(`of ${maxVersion} with ${secret ? 'a common' : 'a random'} ticket key resume no session`, () => {
        beforeEach(() => secret && listeners.setTicketSecret(secret));

        const isReused = async (session: Buffer | undefined): Promise<boolean | undefined> =>
          (await visit(port, { session, maxVersion }))?.reused;

        it('that was made before the listener demanded client certificates', async () => {
          await apply(configuration('one'));
          const session = await sessionOf(port, NAME, maxVersion);
          expect(await isReused(session)).to.equal(true);
          served = [];
          await apply(configuration('mutual'));
          expect(await visit(port, { session, maxVersion })).to.equal(undefined);
          expect(served).to.deep.equal([]);
          expect(await visit(port, { session, maxVersion, ...client })).to.include({ reused: false });
        });

        it('that was made before the listener demanded them for this name', async () => {
          await apply(configuration('one', [NAME]), configuration('two', ['www.example.com']));
          const session = await sessionOf(port, NAME, maxVersion);
          expect(await isReused(session)).to.equal(true);
          served = [];
          await apply(configuration('mutual', [NAME]), configuration('two', ['www.example.com']));
          expect(await visit(port, { session, maxVersion })).to.equal(undefined);
          expect(served).to.deep.equal([]);
        });

        it('of a client whose authority is not accepted any more', async () => {
          await apply(configuration('mutual'));
          const session = await sessionOf(port, NAME, maxVersion, client);
          expect(await visit(port, { session, maxVersion, ...client })).to.include({ reused: false });
          served = [];
          secrets.set('mutual', { ...pair(server), 'ca.crt': otherCa });
          await apply(configuration('mutual'));
          expect(await visit(port, { session, maxVersion, ...client })).to.equal(undefined);
          expect(await visit(port, { session, maxVersion })).to.equal(undefined);
          expect(served).to.deep.equal([]);
        });

        it('of another certificate', async () => {
          await apply(configuration('one'));
          const session = await sessionOf(port, NAME, maxVersion);
          expect(await isReused(session)).to.equal(true);
          secrets.set('one', pair(client));
          await apply(configuration('one'));
          const facts = await visit(port, { session, maxVersion });
          expect(facts).to.include({
            reused: false,
            certificate: new X509Certificate(client.cert).fingerprint256,
          });
        });
      });
    }
  }
});
