import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Duplex } from 'node:stream';
import { createContext, GatewayError, type SnapshotUpstream, type UpstreamConnection } from '@edge-gateway/core';
import { createUpstreamCaller } from '../../src/upstream/call.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { closeAll, listen, snapshotOf, until, whenDone } from '../forward/harness.ts';
import { certificatePath, certificates, secretsOf } from './certificates.ts';

const ECHO = { name: 'echo', namespace: 'gw-system' };

function connectorOf(snapshot: SnapshotUpstream) {
  const context = createContext({ secrets: secretsOf({}) });
  const upstreams = createUpstreams(context);
  upstreams.apply([snapshot]);
  whenDone(() => upstreams.close());
  const stat = (name: string) => {
    const found = context.metrics.list().find((each) => each.name.path === `cluster.echo_gw-system.${name}`);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  return { connect: createUpstreamCaller(upstreams).connect!, stat };
}

async function failureOf(asked: Promise<unknown>): Promise<GatewayError> {
  const error = await asked.catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(GatewayError);
  return error as GatewayError;
}

/** A server that says who it is. */
async function greeter(name: string): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end(name));
  whenDone(() => server.close());
  return listen(server);
}

async function textOf(socket: Duplex): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

async function greeting(asked: Promise<UpstreamConnection>): Promise<string> {
  return textOf((await asked).socket);
}

describe('a connection to an upstream', () => {
  afterEach(closeAll);

  it('uses the endpoints in turn, always a new connection, and is counted', async () => {
    const ports = [await greeter('one'), await greeter('two')];
    const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    const { connect, stat } = connectorOf(snapshotOf(0, { endpoints }));
    const greetings = [await greeting(connect(ECHO)), await greeting(connect(ECHO)), await greeting(connect(ECHO))];
    expect(greetings).to.deep.equal(['one', 'two', 'one']);
    await until(() => stat('upstream_cx_active') === 0, 'all are closed');
    expect([stat('upstream_cx_total'), stat('upstream_cx_destroy')]).to.deep.equal([3, 3]);
  });

  it('sends the host of the endpoint, and no path', async () => {
    const port = await greeter('one');
    const { host, basePath, socket } = await connectorOf(snapshotOf(port)).connect(ECHO);
    expect([host, basePath]).to.deep.equal([`127.0.0.1:${port}`, '']);
    socket.destroy();
  });

  it('uses the TLS settings of the upstream, and rejects a server that it does not trust', async () => {
    const server = createTlsServer(certificates().server, (socket) => socket.on('error', () => {}).end('safe'));
    server.on('tlsClientError', () => {});
    whenDone(() => server.close());
    const port = await listen(server);
    const tls = (rootCa: string) =>
      connectorOf(snapshotOf(port, { tls: true, spec: { sslConfig: { sni: 'localhost', sslFiles: { rootCa } } } }));
    expect(await greeting(tls(certificatePath('ca.crt')).connect(ECHO))).to.equal('safe');
    expect(await failureOf(tls(certificatePath('other-ca.crt')).connect(ECHO))).to.include({ status: 503 });
  });

  it('is rejected with 503 without upstream, without endpoint and without a listener', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    const { connect, stat } = connectorOf(snapshotOf(port));
    expect(await failureOf(connect({ name: 'none', namespace: 'gw-system' }))).to.include({ status: 503 });
    expect(await failureOf(connectorOf(snapshotOf(0, { endpoints: [] })).connect(ECHO))).to.include({
      code: 'ERR_ROUTING_NO_ENDPOINT',
    });
    expect(await failureOf(connect(ECHO))).to.include({ code: 'ERR_ROUTING_UPSTREAM_CONNECT', status: 503 });
    expect(stat('upstream_cx_connect_fail')).to.equal(1);
  });

  it('is given up after the connect timeout of the upstream', async () => {
    // Takes the connection and never answers the handshake.
    const server = createServer((socket) => socket.on('error', () => {}));
    whenDone(() => server.close());
    const port = await listen(server);
    const spec = { connectionConfig: { connectTimeout: '0.1s' }, sslConfig: { sni: 'localhost' } };
    const { status } = await failureOf(connectorOf(snapshotOf(port, { tls: true, spec })).connect(ECHO));
    expect(status).to.be.oneOf([503, 504]);
  });
});
