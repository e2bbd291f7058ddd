import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { createListeners, createRouter } from '../../../src/index.ts';
import { directOf, endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../../snapshots.ts';
import { exchange, open } from '../serving.ts';
import { attackedGateway, type AttackedGateway } from '../../attack/gateway.ts';

const stringFormat =
  '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %REQ(:METHOD)% %REQ(:PATH)% %REQ(:AUTHORITY)% %REQ(x-a)%\n';
const head = (line: string, ...headers: string[]): string => `${[line, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`;

const TABLE: readonly (readonly [name: string, bytes: string, line: string])[] = [
  ['a header without colon', 'GET /x HTTP/1.1\r\nHost: a\r\nbad\r\n\r\n', '400 DPE http1.codec_error - - - -'],
  ['an unknown method', head('FOO /x HTTP/1.1'), '400 DPE http1.codec_error - - - -'],
  [
    'a head that is too large',
    head('GET /x HTTP/1.1', `x: ${'y'.repeat(17_000)}`, 'x-a: 1'),
    '431 DPE http1.headers_too_large GET /x a 1',
  ],
  [
    'too many headers',
    head('GET /x HTTP/1.1', ...Array(100).fill('x: 1')),
    '431 DPE http1.too_many_headers GET /x a -',
  ],
  ['TRACE', head('TRACE /x?y HTTP/1.1', 'x-a: 1'), '405 - ERR_ROUTING_METHOD_NOT_ALLOWED TRACE /x?y a 1'],
  ['CONNECT without a port', 'CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n', '400 DPE ERR_ROUTING_BAD_TARGET CONNECT a a -'],
  ['HTTP/1.0', 'GET /x HTTP/1.0\r\nHost: a\r\n\r\n', '426 - low_version GET /x a -'],
  [
    'two lengths',
    head('POST /x HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    '400 DPE http1.codec_error - - - -',
  ],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', '204 - direct_response OPTIONS * a -'],
  ['an unknown expectation', head('GET /x HTTP/1.1', 'Expect: x'), '417 - ERR_ROUTING_EXPECTATION GET /x a -'],
  [
    'a bad WebSocket key',
    head(
      'GET /x HTTP/1.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: x',
    ),
    '400 DPE ERR_ROUTING_BAD_UPGRADE GET /x a -',
  ],
];

describe('access log of requests that the listener rejects', () => {
  let directory: string;
  let gateway: AttackedGateway;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'refused-'));
    const fileSink = { path: join(directory, 'log'), stringFormat };
    gateway = await attackedGateway({ listener: { options: { accessLoggingService: { accessLog: [{ fileSink }] } } } });
  });
  afterEach(() => rm(directory, { recursive: true }));

  for (const [name, bytes, line] of TABLE) {
    it(`has one line for ${name}`, async () => {
      await gateway.passes(bytes);
      await gateway.close();
      expect(await readFile(join(directory, 'log'), 'utf8')).to.equal(`${line}\n`);
    });
  }

  it('has one line for a bad request behind one in progress', async () => {
    await gateway.passes([`${head('GET /good HTTP/1.1')}FOO /x HTTP/1.1\r\n\r\n`]);
    await gateway.close();
    const lines = (await readFile(join(directory, 'log'), 'utf8')).trimEnd().split('\n');
    expect(lines).to.have.members(['200 - via_upstream GET /good a -', '400 DPE http1.codec_error - - - -']);
  });

  it('has the reason if the listener ends a request to which the upstream does not respond', async () => {
    await gateway.close();
    const { port: silent } = await start(() => {});
    const fileSink = { path: join(directory, 'idle'), stringFormat };
    const options = { accessLoggingService: { accessLog: [{ fileSink }] } };
    const httpOptions = { httpConnectionManagerSettings: { streamIdleTimeout: '0.5s' } };
    const context = createContext();
    const router = createRouter({ context, accessLog: 'none' });
    const snapshot = snapshotOf([hostOf([routeOf()])], [upstreamOf([endpointOf(silent)])], { options, httpOptions });
    router.apply(snapshot);
    const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    const [result] = await listeners.apply(snapshot);
    const { statuses } = await exchange(result!.port!, head('GET /x HTTP/1.1'));
    await listeners.close();
    await router.close();
    await stopAll();
    expect(await readFile(join(directory, 'idle'), 'utf8')).to.equal(
      `${statuses[0]} SI stream_idle_timeout GET /x a -\n`,
    );
  });

  it('has one line for a request in a handler whose body is malformed', async () => {
    await gateway.passes([head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked') + '1\r\na\r\n', 'zz\r\n']);
    await gateway.close();
    expect((await readFile(join(directory, 'log'), 'utf8')).split('\n')).to.have.length(2);
  });

  describe('has one line for an upload that is responded to before it is read,', () => {
    const CHUNKED = head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked') + '1\r\na\r\n';
    const SIZED = head('POST /x HTTP/1.1', 'Content-Length: 9') + 'a';

    const AFTER: Readonly<Record<string, readonly [upload: string, rest: string]>> = {
      'and whose client then leaves': [SIZED, ''],
      'and whose next chunk is malformed': [CHUNKED, 'zz\r\n'],
      'and has a forbidden trailer': [CHUNKED, '0\r\ncontent-length: 1\r\n\r\n'],
      'and is followed by a bad request': [CHUNKED, '0\r\n\r\nFOO\r\n\r\n'],
    };
    for (const [name, [upload, rest]] of Object.entries(AFTER)) {
      it(name, async () => {
        await gateway.close();
        const context = createContext();
        const router = createRouter({ context, accessLog: 'none' });
        const fileSink = { path: join(directory, 'uploads'), stringFormat };
        const options = { accessLoggingService: { accessLog: [{ fileSink }] } };
        const snapshot = snapshotOf([hostOf([directOf('ok')])], [], { options });
        router.apply(snapshot);
        const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
        const [result] = await listeners.apply(snapshot);
        const { socket, until, closed } = await open(result!.port!);
        socket.write(upload);
        await until('\r\n\r\nok');
        socket.end(rest);
        await closed;
        const { stat } = context.metrics.list().find(({ name }) => name.path === 'http.http.downstream_rq_total')!;
        expect(stat).to.include({ value: 1 });
        await listeners.close();
        await router.close();
        expect(await readFile(join(directory, 'uploads'), 'utf8')).to.equal('200 - direct_response POST /x a -\n');
      });
    }
  });
});
