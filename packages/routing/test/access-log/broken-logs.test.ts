import { existsSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { createContext, type Context } from '@edge-gateway/core';
import { skip } from '../../../../test/parts/skip.ts';
import { createRouter } from '../../src/router.ts';
import { directOf, endpointOf, hostOf, LISTENER, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';
import { loadOtlp } from '../../src/collect/otlp.ts';
import { until } from '../tracing/otlp-server.ts';

const REQUESTS = 300;
/** Less than a log waits for its server: a request that waited with it would take longer. */
const LONGEST_MS = 4_000;
/** More than logs may take to close, and less than the timeout of the collectors. */
const CLOSING_MS = 20_000;

describe('broken logs', () => {
  let context: Context;
  /** Accepts connections, reads, and never responds. */
  let silent: Server;
  const sockets: Socket[] = [];

  // Not a part of the time of requests.
  before(() => Promise.all([loadOtlp(), import('@grpc/grpc-js'), import('@edge-gateway/core/grpc')]));
  beforeEach(async () => {
    context = createContext();
    silent = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await stopAll();
  });

  const silentPort = (): number => (silent.address() as AddressInfo).port;
  const counted = (end: string): number =>
    context.metrics.list().reduce((sum, found) => {
      return found.type !== 'histogram' && found.name.path.endsWith(end) ? sum + found.stat.value : sum;
    }, 0);

  /** Serves requests one after the other; returns the longest time, and that of closing, in milliseconds. */
  async function serveAll(options: object, tracing?: object): Promise<{ longest: number; closing: number }> {
    const router = createRouter({ context });
    const httpOptions = tracing ? { httpConnectionManagerSettings: { tracing } } : {};
    const upstreams = [upstreamOf([endpointOf(silentPort())], 'silent'), upstreamOf([endpointOf(1)], 'refusing')];
    router.apply(snapshotOf([hostOf([directOf('ok')])], upstreams, { options, httpOptions } as never));
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    let longest = 0;
    for (let i = 0; i < REQUESTS; i++) {
      const begun = performance.now();
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).to.equal('ok');
      longest = Math.max(longest, performance.now() - begun);
    }
    const begun = performance.now();
    await router.close();
    return { longest, closing: performance.now() - begun };
  }

  const logTo = (target: object): object => ({ accessLoggingService: { accessLog: [target] } });
  const otlpTo = (endpoint: string): object =>
    logTo({ openTelemetryService: { collector: { endpoint, insecure: true, timeout: '60s' }, body: 'x' } });

  const LOGS: readonly (readonly [name: string, options: () => object])[] = [
    ['a file on a full disk', () => logTo({ fileSink: { path: '/dev/full' } })],
    ['a file in a folder that does not exist', () => logTo({ fileSink: { path: '/nonexistent/log' } })],
    ['a log service that does not exist', () => logTo({ grpcService: { staticClusterName: 'none' } })],
    ['a log service that refuses', () => logTo({ grpcService: { staticClusterName: 'refusing_gw-system' } })],
    ['a log service that is silent', () => logTo({ grpcService: { staticClusterName: 'silent_gw-system' } })],
    ['a collector over gRPC that is silent', () => otlpTo(`127.0.0.1:${silentPort()}`)],
    ['a collector over HTTP that is silent', () => otlpTo(`http://127.0.0.1:${silentPort()}`)],
    ['a collector that refuses', () => otlpTo('127.0.0.1:1')],
  ];

  for (const [name, options] of LOGS) {
    it(`delay no request, and count each entry: ${name}`, async function () {
      if (name.includes('full disk') && !existsSync('/dev/full')) skip(this, 'this system has no /dev/full');
      const { longest, closing } = await serveAll(options());
      expect(longest).to.be.below(LONGEST_MS);
      expect(closing).to.be.below(CLOSING_MS);
      await until(() => counted('lines_dropped') >= REQUESTS);
      expect(counted('lines_dropped')).to.equal(REQUESTS);
    }).timeout(120_000);
  }

  for (const [name, clusterName] of [
    ['does not exist', 'none'],
    ['refuses', 'refusing_gw-system'],
    ['is silent', 'silent_gw-system'],
  ] as const)
    for (const provider of ['openTelemetryConfig', 'zipkinConfig', 'datadogConfig'])
      it(`delay no request, and count each span: ${provider} with a collector that ${name}`, async () => {
        const { longest, closing } = await serveAll(
          { accessLoggingService: { accessLog: [] } },
          { [provider]: { clusterName } },
        );
        expect(longest).to.be.below(LONGEST_MS);
        expect(closing).to.be.below(CLOSING_MS);
        await until(() => counted('spans_dropped') >= REQUESTS);
        expect([counted('spans_dropped'), counted('spans_sent')]).to.deep.equal([REQUESTS, 0]);
      }).timeout(120_000);
});
