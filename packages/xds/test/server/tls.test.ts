import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { ServerTls } from '@edge-gateway/core';
import { expect } from 'chai';
import { skip } from '../../../../test/parts/skip.ts';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import type { ClientTls } from '../../src/index.ts';
import { TYPE } from '../../src/resources/index.ts';
import { startProxy, startServer, until } from '../planes.ts';
import { secret, service, startStates } from '../states.ts';
import { NODE, openDelta } from './scripted-client.ts';

const text = (file: string): string => readFileSync(file, 'utf8');
const serverTls = ({ cert, key }: Certificates, clients?: Certificates): ServerTls => ({
  certificate: text(cert),
  key: text(key),
  ...(clients && { clientCa: text(clients.ca) }),
});
const clientTls = (server: Certificates, own?: Certificates): ClientTls => ({
  ca: text(server.ca),
  ...(own && { certificate: text(own.cert), key: text(own.key) }),
});

describe('the connection between the planes', () => {
  let first: Certificates;
  let second: Certificates;
  let states: Awaited<ReturnType<typeof startStates>>;
  let closing: (() => void)[];
  before(() => {
    [first, second] = [makeCertificates(), makeCertificates()];
  });
  after(() => {
    first.remove();
    second.remove();
  });
  beforeEach(async () => {
    closing = [];
    states = await startStates({ a: service('a', 'one'), s: secret('s', 'x') });
  });
  afterEach(async () => {
    for (const close of closing.toReversed()) close();
    await states.close();
  });

  async function start(tls?: ServerTls, address = '127.0.0.1', anonymousSecrets = false) {
    const server = await startServer({}, { address, tls, anonymousSecrets });
    closing.push(server.close);
    server.publish(states.current());
    return server;
  }
  function connect(port: number, tls?: () => ClientTls, host = '127.0.0.1') {
    const reasons: string[] = [];
    const proxy = startProxy([port], {
      servers: [{ host, port }],
      ...(tls && { tls }),
      random: () => 0,
      onFailure: (_server, reason) => void reasons.push(reason),
    });
    closing.push(proxy.close);
    return { ...proxy, reasons, isServed: () => proxy.applied.length > 0 };
  }

  it('uses TLS', async () => {
    const { port } = await start(serverTls(first));
    const proxy = connect(port, () => clientTls(first));
    await until(proxy.isServed, 'the state');
    expect(proxy.decoder.secrets.get({ name: 's', namespace: 'gw-system' })).to.not.equal(undefined);
  });

  it('fails if the proxy does not trust the certificate', async () => {
    const { port } = await start(serverTls(first));
    const proxy = connect(port, () => clientTls(second));
    await until(() => proxy.reasons.length > 0, 'a failure');
    expect(proxy.applied).to.deep.equal([]);
    expect(proxy.reasons[0]).to.match(/certificate|signature|issuer/i);
  });

  it('fails in plain text to a server with a certificate', async () => {
    const { port } = await start(serverTls(first));
    const proxy = connect(port);
    await until(() => proxy.reasons.length > 0, 'a failure');
    expect(proxy.applied).to.deep.equal([]);
  });

  it('needs a certificate of the proxy, if the server demands one', async () => {
    const { port } = await start(serverTls(first, second));
    const [without, foreign, right] = [undefined, first, second].map((own) =>
      connect(port, () => clientTls(first, own)),
    );
    await until(right!.isServed, 'the state');
    await until(() => without!.reasons.length > 0 && foreign!.reasons.length > 0, 'failures');
    expect([without!.applied, foreign!.applied]).to.deep.equal([[], []]);
  });

  it('uses a replaced certificate for new connections, and keeps the others', async () => {
    const server = await start(serverTls(first));
    const early = connect(server.port, () => clientTls(first));
    await until(early.isServed, 'the first');
    server.replaceTls(serverTls(second));
    const late = connect(server.port, () => clientTls(second));
    await until(late.isServed, 'the second');
    states.source.set('a', service('a', 'two'));
    server.publish(states.current());
    await until(() => [early, late].every(({ applied }) => applied.length === 2), 'the change');
    expect(early.reasons).to.deep.equal([]);
  });

  it('uses the certificates of the time of each connection', async () => {
    let trusted = second;
    const { port } = await start(serverTls(first));
    const proxy = connect(port, () => clientTls(trusted));
    await until(() => proxy.reasons.length > 0, 'a failure');
    trusted = first;
    await until(proxy.isServed, 'the state');
  });

  it('sends secrets to other machines only if their certificates are verified, or if that is asked for', async function () {
    const address = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    if (address === undefined) return skip(this, 'this machine has no address besides loopback');
    const plain = await start(undefined, address);
    const refused = connect(plain.port, undefined, address);
    await until(() => refused.reasons.length > 0, 'a failure');
    expect(refused.reasons[0]).to.contain('secrets are sent only to proxies with a client certificate');
    expect(refused.applied).to.deep.equal([]);
    const to = (own?: Certificates) => () => ({ ...clientTls(first, own), serverName: 'localhost' });
    const anonymous = await start(serverTls(first), address);
    const unknown = connect(anonymous.port, to(), address);
    await until(() => unknown.reasons.length > 0, 'a failure');
    expect(unknown.reasons[0]).to.contain('secrets are sent only to proxies with a client certificate');
    expect(unknown.applied).to.deep.equal([]);
    const verifying = await start(serverTls(first, second), address);
    await until(connect(verifying.port, to(second), address).isServed, 'the state');
    const open = await start(serverTls(first), address, true);
    await until(connect(open.port, to(), address).isServed, 'the state');
  });

  it('sends secrets to this machine in plain text, as a separate type', async () => {
    const { port } = await start();
    const client = openDelta(port);
    closing.push(client.close);
    client.send({ node: NODE, type_url: TYPE.virtualHost });
    const hosts = await client.response(0);
    expect(Buffer.concat(hosts.resources.map(({ resource }) => resource.value)).toString()).to.not.contain('eA==');
    client.send({ type_url: TYPE.secret });
    expect((await client.response(1)).resources.map(({ name }) => name)).to.deep.equal(['gw-system/s']);
  });
});
