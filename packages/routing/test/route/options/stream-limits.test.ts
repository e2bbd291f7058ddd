import { createContext, type Route } from '@edge-gateway/core';
import { expect } from 'chai';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouter } from '../../../src/router.ts';
import { compileStreamLimits, streamLimitsOf } from '../../../src/route/options/stream-limits.ts';
import { closeAll, get, listen, rawUpstream, whenDone, type RawAnswer } from '../../forward/harness.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../../snapshots.ts';

interface Setup {
  readonly route?: Route['options'];
  readonly spec?: object;
  readonly manager?: object;
}

async function serving(answer: RawAnswer, { route = {}, spec = {}, manager = {} }: Setup) {
  const upstream = await rawUpstream(answer);
  const directory = await mkdtemp(join(tmpdir(), 'stream-limits-'));
  const path = join(directory, 'log');
  const stringFormat = '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\n';
  const options = { accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat } }] } };
  const router = createRouter({ context: createContext() });
  const declared = { ...upstreamOf([endpointOf(upstream.port)]), spec };
  const httpOptions = { httpConnectionManagerSettings: manager };
  router.apply(snapshotOf([hostOf([routeOf({ options: route })])], [declared], { options, httpOptions }));
  const handler = router.listener(LISTENER);
  const server = createServer((req, res) => handler(req, res, () => res.destroy()));
  const port = await listen(server);
  whenDone(async () => {
    server.closeAllConnections();
    server.close();
    await router.close();
    await rm(directory, { recursive: true });
  });
  return {
    upstream,
    port,
    url: `http://127.0.0.1:${port}`,
    /** The access log, complete. */
    async log(): Promise<string> {
      await router.close();
      return (await readFile(path, 'utf8')).trimEnd();
    },
  };
}

const silent: RawAnswer = () => {};
const half: RawAnswer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf');

describe('limits of a stream', () => {
  afterEach(closeAll);

  describe('idleTimeout of the route', () => {
    const route = { idleTimeout: '0.5s' };

    it('responds with 504 and SI before the response', async () => {
      const { url, log } = await serving(silent, { route });
      expect(await get(url)).to.include({ status: 504, body: 'stream timeout' });
      expect(await log()).to.equal('504 SI stream_idle_timeout');
    });

    it('responds with 408 before the end of the request', async () => {
      const { port, log } = await serving(silent, { route });
      const client = connect(port, '127.0.0.1');
      let text = '';
      client.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => {});
      client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf');
      await new Promise((resolve) => client.once('close', resolve));
      expect(text)
        .to.match(/^HTTP\/1\.1 408 /)
        .and.to.match(/stream timeout$/);
      expect(await log()).to.equal('408 SI stream_idle_timeout');
    });

    it('ends a response that stops', async () => {
      const { url, log } = await serving(half, { route });
      const answer = await get(url).catch(() => undefined);
      expect(answer?.complete).not.to.equal(true);
      expect(await log()).to.equal('200 SI stream_idle_timeout');
    });

    it('does not limit a response that continues', async () => {
      const { url } = await serving(
        (socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n');
          let left = 4;
          const timer = setInterval(() => {
            socket.write('x');
            if (--left === 0) clearInterval(timer);
          }, 200);
        },
        { route },
      );
      expect(await get(url)).to.include({ body: 'xxxx', complete: true });
    });

    it('is not retried', async () => {
      const { url, upstream } = await serving(silent, { route: { ...route, retries: { retryOn: '5xx,reset' } } });
      expect((await get(url)).status).to.equal(504);
      expect(upstream.requests).to.have.length(1);
    });
  });

  describe('maxStreamDuration', () => {
    const limited: readonly (readonly [string, Setup])[] = [
      ['of the route', { route: { maxStreamDuration: { maxStreamDuration: '0.5s' } } }],
      ['of the listener', { manager: { maxStreamDuration: '0.5s' } }],
    ];
    for (const [name, setup] of limited) {
      it(`${name} responds with 504 and DT before the response`, async () => {
        const { url, log } = await serving(silent, setup);
        expect(await get(url)).to.include({ status: 504, body: 'downstream duration timeout' });
        expect(await log()).to.equal('504 DT max_duration_timeout');
      });

      it(`${name} ends a response`, async () => {
        const { url, log } = await serving(half, setup);
        const answer = await get(url).catch(() => undefined);
        expect(answer?.complete).not.to.equal(true);
        expect(await log()).to.equal('200 DT max_duration_timeout');
      });
    }

    it('of the route replaces that of the listener', async () => {
      const route = { timeout: '0.1s', maxStreamDuration: { maxStreamDuration: '0s' } };
      const { url, log } = await serving(silent, { route, manager: { maxStreamDuration: '0.02s' } });
      expect((await get(url)).status).to.equal(504);
      expect(await log()).to.equal('504 UT response_timeout');
    });

    it('of the upstream responds with 504 and UMSDR', async () => {
      const spec = { connectionConfig: { commonHttpProtocolOptions: { maxStreamDuration: '0.5s' } } };
      const { url, log } = await serving(silent, { spec });
      expect(await get(url)).to.include({ status: 504, body: 'upstream max stream duration reached' });
      expect(await log()).to.equal('504 UMSDR upstream_max_stream_duration_reached');
    });

    it('of the upstream limits each attempt', async () => {
      const spec = { connectionConfig: { commonHttpProtocolOptions: { maxStreamDuration: '0.5s' } } };
      const { url, upstream } = await serving(
        (socket, _request, index) => {
          if (index > 0) socket.write('HTTP/1.1 204 Fine\r\n\r\n');
        },
        { spec, route: { retries: { retryOn: 'reset' } } },
      );
      expect((await get(url)).status).to.equal(204);
      expect(upstream.requests).to.have.length(2);
    });
  });

  describe('by grpc-timeout', () => {
    const options: Route['options'] = {
      maxStreamDuration: { maxStreamDuration: '9s', grpcTimeoutHeaderMax: '2s', grpcTimeoutHeaderOffset: '0.1s' },
    };
    const limit = (timeout: string, type = 'application/grpc', of = options): number =>
      streamLimitsOf(compileStreamLimits(of, 0)!, ['content-type', type, 'grpc-timeout', timeout]).durationMs;

    for (const [timeout, expected] of [
      ['1S', 900],
      ['500m', 400],
      ['1000000u', 900],
      ['1M', 1900],
      ['99999999H', 1900],
      ['0S', 1900],
      ['50m', 50],
    ] as const) {
      it(`${timeout} is ${expected} ms`, () => {
        expect(limit(timeout)).to.equal(expected);
        expect(limit(timeout, 'application/grpc+proto')).to.equal(expected);
      });
    }

    for (const timeout of ['', '1', 'S', '-1S', '1.5S', '1s', '123456789S', '1S ']) {
      it(`ignores ${JSON.stringify(timeout)}`, () => expect(limit(timeout)).to.equal(9000));
    }

    it('is ignored for other requests, and unless it is set', () => {
      expect(limit('1S', 'application/grpc-web')).to.equal(9000);
      expect(limit('1S', 'application/grpc', { maxStreamDuration: { maxStreamDuration: '9s' } })).to.equal(9000);
    });

    it('has no upper bound with 0s', () => {
      const unbounded = { maxStreamDuration: { grpcTimeoutHeaderMax: '0s' } };
      expect(limit('1H', 'application/grpc', unbounded)).to.equal(3_600_000);
    });
  });
});
