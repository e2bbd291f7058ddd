import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { createContext, type Handler } from '@edge-gateway/core';
import { createListeners, type ListenersOptions } from '../../src/index.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { listenerOf, snapshotOf } from './serving.ts';
import { sessionOf, VERSIONS, visit } from './tls/tls-client.ts';

const { server } = certificates();
const secrets = secretsOf({ tls: { 'tls.crt': server.cert, 'tls.key': server.key } });
const tls = (parts: object = {}) =>
  listenerOf({
    ssl: true,
    sslConfigurations: [{ sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' } }, sniDomains: [] }],
    ...parts,
  });

describe('listeners that share their ports', () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });

  /** Listeners as those of one process; the number of requests that they served. */
  function processOf(options: Partial<ListenersOptions> = {}) {
    const served = { requests: 0 };
    const handler: Handler = function count(_req, res) {
      served.requests++;
      res.setHeader('connection', 'close').end('served');
    };
    const context = createContext({ secrets });
    const listeners = createListeners({
      router: { listener: () => handler },
      context,
      host: '127.0.0.1',
      portOf: () => 0,
      sharingOf: () => 'start',
      ...options,
    });
    opened.push(listeners);
    return { listeners, served, context };
  }

  it('distributes connections over all of them', async () => {
    const first = processOf();
    const [result] = await first.listeners.apply(snapshotOf(listenerOf()));
    const port = result!.port!;
    const second = processOf({ portOf: () => port, sharingOf: () => 'join' });
    const [joined] = await second.listeners.apply(snapshotOf(listenerOf()));
    expect(joined).to.include({ port, error: undefined });
    let requests = 0;
    while (first.served.requests === 0 || second.served.requests === 0) {
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('served');
      expect(requests++).to.be.below(1000);
    }
    await first.listeners.close();
    const before = second.served.requests;
    for (let i = 0; i < 5; i++) await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(second.served.requests).to.equal(before + 5);
  });

  it('do not start on a port that another program uses, even if that one shares its ports', async () => {
    for (const reusePort of [false, true]) {
      const other = createServer().listen({ port: 0, host: '127.0.0.1', reusePort });
      await once(other, 'listening');
      const { port } = other.address() as { port: number };
      const seen: (number | undefined)[] = [];
      const { listeners } = processOf({
        portOf: () => port,
        onResults: (results) => seen.push(...results.map((each) => each.port)),
      });
      const [result] = await listeners.apply(snapshotOf(listenerOf()));
      expect(result!.error!.message).to.include(`cannot listen on 127.0.0.1 port ${port}: the port is in use`);
      expect(seen).to.deep.equal([undefined]);
      await listeners.close();
      other.close();
    }
  });

  for (const maxVersion of VERSIONS) {
    describe(`with one secret for session tickets (${maxVersion})`, () => {
      const newSession = (port: number) => sessionOf(port, 'api.example.com', maxVersion);
      const isReused = async (port: number, session: Buffer | undefined): Promise<boolean | undefined> =>
        (await visit(port, { session, maxVersion }))?.reused;
      const start = async (secret: Buffer, parts: object = {}) => {
        const { listeners } = processOf();
        listeners.setTicketSecret(secret);
        const [result] = await listeners.apply(snapshotOf(tls(parts)));
        return { listeners, port: result!.port! };
      };

      it('resume the sessions of each other', async () => {
        const [one, other] = [await start(Buffer.alloc(32, 1)), await start(Buffer.alloc(32, 1))];
        const session = await newSession(one.port);
        expect(await isReused(other.port, session)).to.equal(true);
      });

      it('do not resume the sessions of another secret, of other TLS settings, or of another listener', async () => {
        const one = await start(Buffer.alloc(32, 1));
        const session = await newSession(one.port);
        const sslConfig = {
          secretRef: { name: 'tls', namespace: 'gw-system' },
          parameters: { maximumProtocolVersion: maxVersion.replace('.', '_') },
        };
        const others = [
          await start(Buffer.alloc(32, 2)),
          await start(Buffer.alloc(32, 1), { sslConfigurations: [{ sslConfig, sniDomains: [] }] }),
          await start(Buffer.alloc(32, 1), { name: 'another' }),
        ];
        for (const { port } of others) expect(await isReused(port, session)).to.equal(false);
      });

      it('accept no earlier tickets after a rotation, and resume new sessions', async () => {
        const one = await start(Buffer.alloc(32, 1));
        const session = await newSession(one.port);
        one.listeners.setTicketSecret(Buffer.alloc(32, 2));
        expect(await isReused(one.port, session)).to.equal(false);
        const renewed = await newSession(one.port);
        expect(await isReused(one.port, renewed)).to.equal(true);
        const other = await start(Buffer.alloc(32, 1));
        other.listeners.setTicketSecret(Buffer.alloc(32, 2));
        expect(await isReused(other.port, renewed)).to.equal(true);
      });
    });
  }
});
