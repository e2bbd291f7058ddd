import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { createContext, type Context, type Listener } from '@edge-gateway/core';
import { compileFormat, fill } from '../../../src/format/format.ts';
import type { RequestRecord } from '../../../src/format/record.ts';
import { createListeners, createRouter, type ListenLimits, type Listeners } from '../../../src/index.ts';
import { until } from '../../tracing/otlp-server.ts';
import { certificates, secretsOf } from '../../upstream/certificates.ts';
import {
  echo,
  endpointOf,
  hostOf,
  routeOf,
  start,
  stopAll,
  upstreamOf,
  snapshotOf as routed,
} from '../../snapshots.ts';
import { FRAME, frame, FrameClient, PREFACE, requestFrame } from '../http2/frames.ts';
import { exchange, listenerOf, open, snapshotOf } from '../serving.ts';
import { binary, field, V4 } from './headers.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const V1 = 'PROXY TCP4 192.0.2.7 203.0.113.9 4711 443\r\n';
const REQUIRED: Partial<Listener> = { options: { proxyProtocol: {} } };
const latin1 = (bytes: Buffer): string => bytes.toString('latin1');
const address = ({ socket: s }: IncomingMessage): string =>
  `${s.remoteAddress}:${s.remotePort} ${s.localAddress}:${s.localPort}`;
const PROXIED = '192.0.2.7:4711 203.0.113.9:443';

describe('connections with a PROXY header', () => {
  let listeners: Listeners | undefined;
  let context: Context;
  const connections: RequestRecord[] = [];

  afterEach(async () => {
    await listeners?.close();
    connections.length = 0;
  });

  async function serve(
    listener: Partial<Listener>,
    {
      limits,
      secrets,
      proxyProtocolFrom,
    }: {
      limits?: Partial<ListenLimits>;
      secrets?: Context['secrets'];
      proxyProtocolFrom?: readonly string[];
    } = {},
  ): Promise<number> {
    context = createContext(secrets && { secrets });
    listeners = createListeners({
      router: {
        listener: () => (req, res) => void res.end(address(req)),
        logConnection: (_name, record) => void connections.push(record),
      },
      context,
      host: '127.0.0.1',
      portOf: () => 0,
      limits,
      proxyProtocolFrom,
    });
    const [result] = await listeners.apply(snapshotOf(listenerOf(listener)));
    if (result?.error) throw result.error;
    return result!.port!;
  }

  function count(path: string): number {
    const found = context.metrics.list().find(({ name }) => name.path === path);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  }

  it('are accepted from proxies that are named, and from nobody else', async () => {
    const own = /\r\n\r\n127\.0\.0\.1:\d+ 127\.0\.0\.1:/;
    const named = await serve({}, { proxyProtocolFrom: ['127.0.0.0/8'] });
    expect((await exchange(named, V1 + GET)).text).to.contain(PROXIED);
    expect((await exchange(named, GET)).text, 'without a header').to.not.match(own);
    await listeners!.close();
    const others = await serve({}, { proxyProtocolFrom: ['192.0.2.1'] });
    expect((await exchange(others, GET)).text).to.match(own);
    expect((await exchange(others, V1 + GET)).text).to.not.contain(PROXIED);
  });

  const headers: Record<string, string> = {
    'version 1': V1,
    'version 2': latin1(binary(0x21, 0x11, V4, field(4, 'pad'))),
  };
  for (const [name, header] of Object.entries(headers)) {
    it(`have the addresses of ${name}`, async () => {
      const port = await serve(REQUIRED);
      expect((await exchange(port, header + GET)).text).to.contain(PROXIED);
      expect((await exchange(port, header, GET)).text).to.contain(PROXIED);
      expect(count(`proxy_proto.versions.v${name.at(-1)}.found`)).to.equal(2);
    });

    it(`may arrive byte by byte in ${name}`, async () => {
      const port = await serve({ useProxyProto: true });
      const { socket, text, closed } = await open(port);
      for (const byte of header + GET) {
        socket.write(byte, 'latin1');
        await new Promise((resolve) => setImmediate(resolve));
      }
      await closed;
      expect(text()).to.contain(PROXIED);
    });
  }

  it('serve requests over HTTP/2 that follow the header at once, or later', async () => {
    const port = await serve(REQUIRED);
    const bytes = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), requestFrame(1, '/')]);
    for (const parts of [[Buffer.concat([Buffer.from(V1), bytes])], [Buffer.from(V1), bytes]]) {
      const client = new FrameClient(port);
      for (const part of parts) {
        client.send(part);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { payload } = await client.until(({ type }) => type === FRAME.data);
      expect(payload.toString()).to.equal(PROXIED);
      client.close();
    }
  });

  it('serve several requests that follow the header at once', async () => {
    const port = await serve(REQUIRED);
    const { statuses, text } = await exchange(port, V1 + GET.replace('close', 'keep-alive') + GET);
    expect(statuses).to.deep.equal([200, 200]);
    expect(text.split(PROXIED)).to.have.length(3);
  });

  it('receive a body that begins with the header and ends later', async () => {
    const port = await serve(REQUIRED);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabc';
    expect((await exchange(port, V1 + head, 'def')).statuses).to.deep.equal([200]);
  });

  it('keep their own addresses without a client in the header', async () => {
    const port = await serve(REQUIRED);
    expect((await exchange(port, `PROXY UNKNOWN\r\n${GET}`)).text).to.contain('127.0.0.1:');
    expect((await exchange(port, latin1(binary(0x20, 0)) + GET)).text).to.contain('127.0.0.1:');
    expect(count('proxy_proto.versions.v1.found') + count('proxy_proto.versions.v2.found')).to.equal(2);
  });

  it('are closed without a header, and with an invalid one', async () => {
    const port = await serve({
      options: {
        proxyProtocol: {},
        listenerAccessLoggingService: { accessLog: [{ fileSink: { path: '/dev/null' } }] },
      },
    });
    for (const text of [GET, `PROXY TCP4 1.2.3.4\r\n${GET}`, latin1(binary(0x21, 0x12, V4)) + GET]) {
      expect((await exchange(port, text)).text).to.equal('');
    }
    expect(count('proxy_proto.not_found_disallowed')).to.equal(1);
    expect(count('proxy_proto.versions.v1.error')).to.equal(1);
    expect(count('proxy_proto.versions.v2.error')).to.equal(1);
    expect(count('downstream_cx_proxy_proto_error')).to.equal(3);
    expect(connections.map(({ result }) => result.termination)).to.deep.equal([
      'proxy_protocol_error: no PROXY header',
      'proxy_protocol_error: two addresses and two ports are required',
      'proxy_protocol_error: unsupported address family or transport 0x12',
    ]);
  });

  it('are served without a header where it is optional', async () => {
    const port = await serve({ options: { proxyProtocol: { allowRequestsWithoutProxyProtocol: true } } });
    expect((await exchange(port, GET)).text).to.contain('127.0.0.1:');
    expect((await exchange(port, V1 + GET)).text).to.contain(PROXIED);
    expect((await exchange(port, `PROXY TCP4 x\r\n${GET}`)).text).to.equal('');
    expect(count('proxy_proto.not_found_allowed')).to.equal(1);
  });

  it('are closed if the header is not complete in time', async () => {
    const port = await serve(REQUIRED, { limits: { headTimeoutMs: 50 } });
    expect((await exchange(port, 'PROXY TCP4 ')).text).to.equal('');
    expect((await exchange(port)).text).to.equal('');
    expect(count('downstream_cx_proxy_proto_error')).to.equal(1);
  });

  it('are closed if the client ends before the header is complete', async () => {
    const port = await serve(REQUIRED);
    const { socket, closed, text } = await open(port);
    socket.end('PROXY TCP4 192');
    await closed;
    expect(text()).to.equal('');
    expect(count('downstream_cx_proxy_proto_error')).to.equal(1);
    const check = await open(port);
    check.socket.end();
    await check.closed;
    expect(count('downstream_cx_proxy_proto_error')).to.equal(1);
  });

  it('are closed by a drain while their header is missing', async () => {
    const port = await serve(REQUIRED);
    const { socket, closed } = await open(port);
    socket.write('PROXY ');
    await until(() => count('listener.127.0.0.1_8080.downstream_cx_active') === 1);
    await Promise.all([listeners!.drain(20_000), closed]);
  });

  it('use TLS behind the header, and fail its handshake as others do', async () => {
    const { server } = certificates();
    const secrets = secretsOf({ tls: { 'tls.crt': server.cert, 'tls.key': server.key } });
    const sslConfigurations = [{ sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' } }, sniDomains: [] }];
    const port = await serve(
      {
        ssl: true,
        sslConfigurations,
        options: {
          proxyProtocol: { rules: [{ tlvType: 2, onTlvPresent: { key: 'authority' } }] },
          listenerAccessLoggingService: { accessLog: [{ fileSink: { path: '/dev/null' } }] },
        },
      },
      { secrets },
    );
    const raw = connectTcp(port, '127.0.0.1');
    raw.write(binary(0x21, 0x11, V4, field(2, 'shop')));
    const text = await tlsExchange(raw);
    expect(text).to.contain(PROXIED);
    await until(() => connections.length === 1);
    const format = compileFormat(
      '%DOWNSTREAM_REMOTE_ADDRESS% %DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT% %DYNAMIC_METADATA(envoy.filters.listener.proxy_protocol:authority)%',
      'log',
    );
    expect(fill(format, connections[0]!, '-')).to.equal('192.0.2.7:4711 127.0.0.1 shop');
    expect((await exchange(port, V1 + GET)).text).to.not.contain('200');
    await until(() => connections.length === 2);
    expect(connections[1]!.result.termination).to.match(/^tls_error/);
    expect(connections[1]!.head.clientAddress).to.equal('192.0.2.7');
  });

  async function tlsExchange(raw: Socket): Promise<string> {
    const socket = connect({ socket: raw, servername: 'localhost', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.write(GET);
    await once(socket, 'close');
    return text;
  }
});

describe('requests behind a PROXY header', () => {
  after(stopAll);

  it('have the client of the header in x-forwarded-for, conditions, metadata and the log', async () => {
    const upstream = upstreamOf([endpointOf((await start(echo)).port)]);
    const context = createContext();
    const router = createRouter({ context, concerns: [] });
    const format = '%DOWNSTREAM_REMOTE_ADDRESS% %DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT% ';
    const rules = [
      { tlvType: 2, onTlvPresent: { key: 'authority' } },
      { tlvType: 0xea, onTlvPresent: { key: 'endpoint', metadataNamespace: 'aws' } },
      { tlvType: 0xeb, onTlvPresent: { key: 'absent' } },
    ];
    const shown = '%DYNAMIC_METADATA(envoy.filters.listener.proxy_protocol)% %DYNAMIC_METADATA(aws:endpoint)%';
    const added = { requestHeadersToAdd: [{ header: { key: 'x-log', value: format + shown } }] };
    const snapshot = routed([hostOf([routeOf({ options: { headerManipulation: added } as never })])], [upstream], {
      options: { proxyProtocol: { rules } },
    });
    router.apply(snapshot);
    const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    try {
      const [result] = await listeners.apply(snapshot);
      const header = binary(0x21, 0x11, V4, field(2, 'shop'), field(0xea, 'vpce-1'));
      const request = GET.replace('Host: a', 'Host: a.example');
      const { text } = await exchange(result!.port!, latin1(header) + request);
      const { headers } = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
      expect(headers['x-forwarded-for']).to.equal('192.0.2.7');
      expect(headers['x-log']).to.equal('192.0.2.7:4711 127.0.0.1 {"authority":"shop"} vpce-1');
      const forged = binary(0x21, 0x11, V4, field(0xea, 'a\r\nx-forged: 1'));
      const other = await exchange(result!.port!, latin1(forged) + request);
      expect(other.text).to.not.match(/"x-forged"/);
    } finally {
      await listeners.close();
      await router.close();
    }
  });
});
