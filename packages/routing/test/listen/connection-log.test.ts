import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { createContext, type Listener } from '@edge-gateway/core';
import { compileFormat, fill } from '../../src/format/format.ts';
import { createListeners, type Listeners } from '../../src/index.ts';
import type { RequestRecord } from '../../src/format/record.ts';
import { until } from '../tracing/otlp-server.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { exchange, listenerOf, snapshotOf } from './serving.ts';

const LOGGED = { listenerAccessLoggingService: { accessLog: [{ fileSink: { path: '/dev/null' } }] } };
const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const format = compileFormat(
  '%PROTOCOL% %RESPONSE_CODE% %BYTES_RECEIVED% %DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% %REQUESTED_SERVER_NAME% %DOWNSTREAM_TLS_VERSION% %CONNECTION_TERMINATION_DETAILS%',
  'log',
);

describe('log of connections', () => {
  let listeners: Listeners | undefined;
  const records: RequestRecord[] = [];
  const lines = (): string[] => records.map((record) => fill(format, record, '-'));

  afterEach(async () => {
    await listeners?.close();
    records.length = 0;
  });

  async function serve(listener: Partial<Listener>, context = createContext()): Promise<number> {
    listeners = createListeners({
      router: {
        listener: () => (_req, res) => void res.end('ok'),
        logConnection: (_name, record) => void records.push(record),
      },
      context,
      host: '127.0.0.1',
      portOf: () => 0,
    });
    const [result] = await listeners.apply(snapshotOf(listenerOf(listener)));
    return result!.port!;
  }

  it('has one entry for each connection, with and without a request', async () => {
    const port = await serve({ options: LOGGED });
    await exchange(port, GET);
    await until(() => records.length === 1);
    const silent = connectTcp(port, '127.0.0.1');
    await once(silent, 'connect');
    silent.end();
    await until(() => records.length === 2);
    expect(lines()).to.deep.equal([`- 0 ${GET.length} 127.0.0.1 - - -`, '- 0 0 127.0.0.1 - - -']);
    expect(records[0]!.result.durationMs).to.be.at.least(0);
    expect(records[0]!.result.bytesSent).to.be.above(50);
  });

  it('has an entry for a connection beyond the limit', async () => {
    const port = await serve({
      options: LOGGED,
      httpOptions: { connectionLimit: { maxActiveConnections: 1 } } as never,
    });
    const first = connectTcp(port, '127.0.0.1');
    await once(first, 'connect');
    const second = connectTcp(port, '127.0.0.1').on('error', () => {});
    await once(second, 'close');
    await until(() => records.length === 1);
    expect(lines()).to.deep.equal(['- 0 0 127.0.0.1 - - connection_limit']);
    first.destroy();
    await until(() => records.length === 2);
  });

  it('has no entry without a log', async () => {
    const port = await serve({});
    await exchange(port, GET);
    expect(records).to.deep.equal([]);
  });

  it('has the name and version of TLS, and failed handshakes', async () => {
    const { server } = certificates();
    const secret = { type: 'kubernetes.io/tls', data: { 'tls.crt': server.cert, 'tls.key': server.key } };
    const context = createContext({ secrets: secretsOf({ tls: secret.data } as never) });
    const configuration = {
      sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' } },
      sniDomains: [],
    };
    const port = await serve({ options: LOGGED, ssl: true, sslConfigurations: [configuration] as never }, context);
    const socket = connect({ port, host: '127.0.0.1', servername: 'api.example.com', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.end();
    await until(() => records.length === 1);
    const plain = connectTcp(port, '127.0.0.1').on('error', () => {});
    plain.end('GET / HTTP/1.1\r\n\r\n');
    await until(() => records.length === 2);
    expect(lines()[0]).to.match(/^- 0 \d+ 127\.0\.0\.1 api\.example\.com TLSv1\.3 -$/);
    expect(lines()[1]).to.match(/tls_error: ERR_SSL_HTTP_REQUEST$/);
  });
});
