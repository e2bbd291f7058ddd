import { compileRetries } from '@edge-gateway/core';
import type { Retries } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { ForwardHead } from '../../src/forward/forward.ts';
import type { AttemptOutcome } from '../../src/upstream/attempt.ts';
import { closeAll, gateway, get, httpUpstream, rawUpstream, snapshotOf, until, type Gateway } from './harness.ts';

const NOW = { baseInterval: '1ms' } as const;
const RESET = 'upstream connect error or disconnect/reset before headers. ';

/** A gateway with a retry policy. */
function retrying(
  port: number,
  retries: Retries,
  parts: Partial<ForwardHead> = {},
  spec: object = {},
): Promise<Gateway> {
  const policy = compileRetries({ retryBackOff: NOW, ...retries });
  return gateway({ upstream: snapshotOf(port, { spec }), head: () => ({ retries: policy, ...parts }) });
}

/** An upstream that responds with the heads in turn, the last one for good. */
async function responding(...heads: readonly string[]) {
  return await rawUpstream((socket, _request, index) => {
    const head = heads[Math.min(index, heads.length - 1)]!;
    if (head === 'reset') socket.resetAndDestroy();
    else if (head !== 'nothing') socket.write(`HTTP/1.1 ${head}\r\ncontent-length: 2\r\n\r\nok`);
  });
}

describe('a forwarded request with a retry policy', () => {
  afterEach(closeAll);

  const retried: readonly (readonly [string, Retries, string])[] = [
    ['5xx', { retryOn: '5xx' }, '500 Bad'],
    ['5xx', { retryOn: '5xx' }, 'reset'],
    ['gateway-error', { retryOn: 'gateway-error' }, '502 Bad'],
    ['gateway-error', { retryOn: 'gateway-error' }, 'reset'],
    ['reset', { retryOn: 'reset' }, 'reset'],
    ['retriable-4xx', { retryOn: 'retriable-4xx' }, '409 Conflict'],
    ['retriable-status-codes', { retryOn: 'retriable-status-codes', retriableStatusCodes: [404] }, '404 None'],
    ['envoy-ratelimited', { retryOn: 'envoy-ratelimited' }, '429 Slow\r\nx-envoy-ratelimited: true'],
    ['cancelled', { retryOn: 'cancelled' }, '200 OK\r\ngrpc-status: 1'],
    ['deadline-exceeded', { retryOn: 'deadline-exceeded' }, '200 OK\r\ngrpc-status: 4'],
    ['resource-exhausted', { retryOn: 'resource-exhausted' }, '200 OK\r\ngrpc-status: 8'],
    ['internal', { retryOn: 'internal' }, '200 OK\r\ngrpc-status: 13'],
    ['unavailable', { retryOn: 'reset, unavailable' }, '200 OK\r\nGrpc-Status: 14'],
  ];
  for (const [name, policy, first] of retried) {
    it(`is retried on ${name} after ${JSON.stringify(first)}`, async () => {
      const upstream = await responding(first, '200 Fine');
      const gw = await retrying(upstream.port, policy);
      const answer = await get(gw.url, { method: 'POST' });
      expect(answer).to.include({ status: 200, body: 'ok' });
      expect(answer.headers['grpc-status']).to.equal(undefined);
      expect(upstream.requests).to.have.length(2);
      expect(gw.outcomes[0]).to.include({ flags: '', attempts: 2 });
      expect([gw.stat('upstream_rq_retry'), gw.stat('upstream_rq_retry_success')]).to.deep.equal([1, 1]);
      expect(gw.stat('upstream_rq_retry_backoff_exponential')).to.equal(1);
      expect(gw.stat('upstream_rq_total')).to.equal(2);
      await until(() => gw.stat('upstream_rq_active') === 0, 'the end of both attempts');
    });
  }

  const notRetried: readonly (readonly [string, Retries, string])[] = [
    ['a status that is none of its conditions', { retryOn: 'gateway-error' }, '500 Bad'],
    ['404 with retriable-4xx', { retryOn: 'retriable-4xx' }, '404 None'],
    ['statuses without their condition', { retryOn: 'reset', retriableStatusCodes: [404] }, '404 None'],
    ['a rate limit with 5xx', { retryOn: '5xx' }, '503 Slow\r\nx-envoy-ratelimited: true'],
    ['a reset with connect-failure', { retryOn: 'connect-failure,reset-before-request' }, 'reset'],
    ['another gRPC status', { retryOn: 'unavailable' }, '200 OK\r\ngrpc-status: 13'],
    ['a condition of another protocol', { retryOn: 'refused-stream,http3-post-connect-failure' }, '503 Bad'],
    ['no condition', {}, '503 Bad'],
  ];
  for (const [name, policy, first] of notRetried) {
    it(`is not retried on ${name}`, async () => {
      const upstream = await responding(first, '200 Fine');
      const gw = await retrying(upstream.port, policy);
      await get(gw.url, { method: 'POST' });
      expect(upstream.requests).to.have.length(1);
      expect(gw.outcomes[0]).to.include({ attempts: 1 });
      expect(gw.stat('upstream_rq_retry')).to.equal(0);
    });
  }

  for (const retryOn of ['connect-failure', 'reset-before-request', 'reset', '5xx', 'gateway-error']) {
    it(`goes to another host on ${retryOn} if the first one refuses`, async () => {
      const good = await httpUpstream((_req, res) => res.end('good'));
      const policy = compileRetries({ retryOn, retryBackOff: NOW });
      const endpoints = [1, good].map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
      const outcomes: AttemptOutcome[] = [];
      const head = (): Partial<ForwardHead> => ({ retries: policy, onAttempt: (outcome) => outcomes.push(outcome) });
      const gw = await gateway({ upstream: snapshotOf(1, { endpoints }), head });
      for (let i = 0; i < 6; i++) expect(await get(gw.url)).to.include({ status: 200, body: 'good' });
      const failed = outcomes.filter(({ reason }) => reason?.flags === 'UF');
      expect(failed.map(({ host }) => host.port)).to.deep.equal(failed.map(() => 1));
      expect(failed).to.have.length(gw.stat('upstream_rq_retry')).and.not.to.equal(0);
    });
  }

  for (const [updateFrequency, expected] of [
    [1, [0, 1, 2, 0]],
    [2, [0, 0, 1, 1]],
  ] as const) {
    it(`goes to another priority after ${updateFrequency} with previousPriorities`, async () => {
      const priorities: number[] = [];
      const first = await responding('503 Bad');
      const endpoints = [0, 0, 1, 1, 2].map((priority, i) => ({
        address: `127.0.0.${i + 1}`,
        port: first.port,
        weight: 1,
        priority,
      }));
      const retries = compileRetries({
        retryOn: 'connect-failure,5xx',
        numRetries: 3,
        retryBackOff: NOW,
        previousPriorities: { updateFrequency },
      });
      const head = (): Partial<ForwardHead> => ({ retries, onAttempt: ({ host }) => priorities.push(host.priority) });
      const gw = await gateway({ upstream: snapshotOf(1, { endpoints }), head });
      await get(gw.url);
      expect(priorities.slice(0, 3)).to.deep.equal(expected.slice(0, 3));
    });
  }

  it('fails with the last response and URX after its last retry', async () => {
    const upstream = await responding('503 First', '500 Second', '502 Third', '200 Fine');
    const gw = await retrying(upstream.port, { retryOn: '5xx', numRetries: 2 });
    expect((await get(gw.url)).status).to.equal(502);
    expect(upstream.requests).to.have.length(3);
    expect(gw.outcomes[0]).to.include({ flags: 'URX', attempts: 3 });
    expect(gw.stat('upstream_rq_retry_limit_exceeded')).to.equal(1);
    expect(gw.stat('upstream_rq_retry_success')).to.equal(0);
  });

  it('names the retries in the body after a last reset', async () => {
    const upstream = await responding('reset');
    const gw = await retrying(upstream.port, { retryOn: 'reset' });
    const body = `${RESET}retried and the latest reset reason: connection termination`;
    expect(await get(gw.url, { method: 'POST' })).to.include({ status: 503, body });
    expect(gw.outcomes[0]).to.include({
      flags: 'URX,UC',
      details: 'upstream_reset_before_response_started{connection_termination}',
    });
  });

  it('reuses the connection of a response that was not delivered', async () => {
    const upstream = await responding('503 First', '200 Fine');
    const gw = await retrying(upstream.port, { retryOn: '5xx' });
    expect((await get(gw.url)).status).to.equal(200);
    expect(upstream.connections).to.equal(1);
  });

  it('closes the connection of a response whose body is not complete', async () => {
    const upstream = await rawUpstream((socket, _request, index) => {
      socket.write(index === 0 ? 'HTTP/1.1 503 Bad\r\ncontent-length: 99\r\n\r\nhalf' : 'HTTP/1.1 204 Fine\r\n\r\n');
    });
    const gw = await retrying(upstream.port, { retryOn: '5xx' });
    expect((await get(gw.url)).status).to.equal(204);
    expect(upstream.connections).to.equal(2);
    await until(() => upstream.sockets.size === 1, 'the end of the first connection');
  });

  describe('within perTryTimeout', () => {
    it('is sent again if there is no response', async () => {
      const upstream = await responding('nothing', '200 Fine');
      const gw = await retrying(upstream.port, { retryOn: '5xx', perTryTimeout: '0.5s' });
      expect((await get(gw.url)).status).to.equal(200);
      expect(gw.stat('upstream_rq_per_try_timeout')).to.equal(1);
      expect(gw.stat('upstream_rq_timeout')).to.equal(0);
    });

    it('gets 504 after its last attempt', async () => {
      const upstream = await responding('nothing');
      const gw = await retrying(upstream.port, { retryOn: '5xx', perTryTimeout: '0.05s' });
      expect(await get(gw.url)).to.include({ status: 504, body: 'upstream request timeout' });
      expect(gw.outcomes[0]).to.include({ flags: 'URX,UT', details: 'upstream_per_try_timeout', attempts: 2 });
    });

    it('gets 504 without any condition', async () => {
      const upstream = await responding('nothing');
      const gw = await retrying(upstream.port, { perTryTimeout: '0.05s' });
      expect((await get(gw.url)).status).to.equal(504);
      expect(gw.outcomes[0]).to.include({ flags: 'UT', attempts: 1 });
    });

    it('may take longer for its body', async () => {
      const port = await httpUpstream((_req, res) => {
        res.write('first ');
        setTimeout(() => res.end('last'), 700);
      });
      const gw = await retrying(port, { retryOn: '5xx', perTryTimeout: '0.5s' });
      expect(await get(gw.url)).to.include({ status: 200, body: 'first last', complete: true });
    });

    it('gets 504 at the timeout of the request if that expires first', async () => {
      const upstream = await responding('nothing');
      const policy = { retryOn: '5xx', numRetries: 50, perTryTimeout: '0.04s' };
      const gw = await retrying(upstream.port, policy, { timeoutMs: 1000 });
      expect((await get(gw.url)).status).to.equal(504);
      expect(gw.outcomes[0]).to.include({ flags: 'UT', details: 'response_timeout' });
      expect(upstream.requests.length).to.be.greaterThan(1);
    });
  });

  it('gets 504 if its timeout ends during the back-off', async () => {
    const upstream = await responding('429 Slow\r\nretry-after: 60');
    const policy: Retries = {
      retryOn: 'retriable-status-codes',
      retriableStatusCodes: [429],
      rateLimitedRetryBackOff: { resetHeaders: [{ name: 'Retry-After', format: 'SECONDS' }] },
    };
    const gw = await retrying(upstream.port, policy, { timeoutMs: 100 });
    expect((await get(gw.url)).status).to.equal(504);
    expect(upstream.requests).to.have.length(1);
    expect(gw.stat('upstream_rq_retry_backoff_ratelimited')).to.equal(1);
    expect(gw.stat('upstream_rq_active')).to.equal(0);
  });

  it('is not retried when the client disconnects during the back-off', async () => {
    const upstream = await responding('503 Bad');
    const gw = await retrying(upstream.port, { retryOn: '5xx', retryBackOff: { baseInterval: '60s' } });
    const socket = connect(gw.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await until(() => gw.stat('upstream_rq_retry') === 1, 'the back-off');
    socket.destroy();
    await until(() => gw.outcomes.length === 1, 'the end');
    expect(gw.outcomes[0]).to.include({ flags: 'DC', attempts: 1 });
    expect(upstream.requests).to.have.length(1);
  });

  it('calls back before each retry, and sends the headers of that moment', async () => {
    const upstream = await responding('503 Bad', '200 Fine');
    const headers: string[] = ['host', 'a'];
    const retries: unknown[] = [];
    const gw = await retrying(
      upstream.port,
      { retryOn: '5xx' },
      {
        headers,
        onRetry(attempt, { port }, elapsedMs) {
          retries.push([attempt, port, elapsedMs > 0]);
          headers.push('x-attempt', String(attempt));
        },
      },
    );
    await get(gw.url);
    expect(retries).to.deep.equal([[2, upstream.port, true]]);
    expect(upstream.requests[0]).not.to.contain('x-attempt');
    expect(upstream.requests[1]).to.contain('x-attempt: 2');
  });

  describe('with a body', () => {
    /** Reads the bodies that arrive, and responds with 503 to the first ones. */
    async function collecting(failures: number) {
      const bodies: string[] = [];
      const port = await httpUpstream((req, res) => {
        let body = '';
        req.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
        req.on('end', () => {
          bodies.push(body);
          res.writeHead(bodies.length > failures ? 200 : 503).end();
        });
      });
      return { port, bodies };
    }

    it('sends all of it again', async () => {
      const { port, bodies } = await collecting(2);
      const gw = await retrying(port, { retryOn: '5xx', numRetries: 2 });
      const body = 'x'.repeat(300_000);
      expect((await get(gw.url, { method: 'POST', body })).status).to.equal(200);
      expect(bodies.map((each) => each === body)).to.deep.equal([true, true, true]);
      expect(gw.outcomes[0]).to.include({ bytesReceived: body.length });
    });

    it('sends a chunked one again', async () => {
      const { port, bodies } = await collecting(1);
      const gw = await retrying(port, { retryOn: '5xx' });
      const client = request(gw.url, { method: 'POST', agent: false });
      client.write('first,');
      client.end('last');
      const [response] = (await once(client, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
      expect(response.statusCode).to.equal(200);
      expect(bodies).to.deep.equal(['first,last', 'first,last']);
    });

    it('continues one that was still arriving when the attempt failed', async () => {
      const received: string[] = [];
      const upstream = await rawUpstream((socket, _head, index) => {
        if (index === 0) socket.resetAndDestroy();
        else {
          let body = '';
          socket.on('data', (chunk) => {
            body += chunk.toString('latin1');
            if (!body.includes('last')) return;
            received.push(body);
            socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          });
        }
      });
      const gw = await retrying(upstream.port, { retryOn: 'reset' });
      const client = request(gw.url, { method: 'POST', agent: false, headers: { 'content-length': '10' } });
      client.write('first,');
      await until(() => upstream.requests.length === 2, 'the retry');
      client.end('last');
      const [response] = (await once(client, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
      expect(response.statusCode).to.equal(200);
      expect(received.join('')).to.contain('last');
      expect(gw.outcomes[0]).to.include({ bytesReceived: 10 });
    });

    it('is not sent again if it is larger than the buffer', async () => {
      const { port, bodies } = await collecting(1);
      const gw = await retrying(port, { retryOn: '5xx' }, { replayBytes: 1000 });
      expect((await get(gw.url, { method: 'POST', body: 'x'.repeat(1001) })).status).to.equal(503);
      expect(bodies).to.have.length(1);
      expect(gw.stat('retry_or_shadow_abandoned')).to.equal(1);
      expect(gw.outcomes[0]).to.include({ flags: '' });
    });

    it('is sent again if it was read before', async () => {
      const { port, bodies } = await collecting(1);
      const gw = await retrying(port, { retryOn: '5xx' }, { body: Buffer.from('known') });
      expect((await get(gw.url, { method: 'POST' })).status).to.equal(200);
      expect(bodies).to.deep.equal(['known', 'known']);
    });
  });

  it('is never sent again after the response has begun', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
      setImmediate(() => socket.destroy());
    });
    const gw = await retrying(upstream.port, { retryOn: '5xx,reset', numRetries: 3 });
    await get(gw.url).catch(() => undefined);
    await until(() => gw.outcomes.length === 1, 'the end');
    expect(upstream.requests).to.have.length(1);
    expect(gw.outcomes[0]).to.include({
      aborted: true,
      details: 'upstream_reset_after_response_started{connection_termination}',
    });
  });

  it('is not sent again above the retry limit of the upstream', async () => {
    const upstream = await responding('503 Bad', '200 Fine');
    const gw = await retrying(upstream.port, { retryOn: '5xx' }, {}, { circuitBreakers: { maxRetries: 0 } });
    expect((await get(gw.url)).status).to.equal(503);
    expect(gw.outcomes[0]).to.include({ flags: 'UO', attempts: 1 });
    expect(gw.stat('upstream_rq_retry_overflow')).to.equal(1);
    expect(gw.stat('circuit_breakers.default.rq_retry_open')).to.equal(1);
  });

  it('occupies a retry of the upstream until its response begins', async () => {
    const upstream = await responding('503 Bad');
    const circuitBreakers = { maxRetries: 2, trackRemaining: true };
    const slow = { retryOn: '5xx', retryBackOff: { baseInterval: '60s' } };
    const gw = await retrying(upstream.port, slow, {}, { circuitBreakers });
    const left = (): number => gw.stat('circuit_breakers.default.remaining_retries');
    const sockets = [1, 2].map(() => connect(gw.port, '127.0.0.1'));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await until(() => left() === 0, 'two retries');
    expect((await get(gw.url)).status).to.equal(503);
    for (const socket of sockets) socket.destroy();
    await until(() => left() === 2, 'no retry');
  });

  it('does not blame the host for a client that pauses its upload, and sends nothing again', async () => {
    const upstream = await rawUpstream(() => undefined);
    const outcomes: AttemptOutcome[] = [];
    const onAttempt = (outcome: AttemptOutcome): void => void outcomes.push(outcome);
    const policy = { retryOn: '5xx,reset', perTryTimeout: '0.05s' };
    const gw = await retrying(upstream.port, policy, { timeoutMs: 500, onAttempt });
    const socket = connect(Number(new URL(gw.url).port), '127.0.0.1').on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf');
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(head.toString()).to.match(/^HTTP\/1\.1 408 /);
    expect(gw.outcomes[0]).to.include({ flags: 'SI', details: 'stream_idle_timeout', attempts: 1 });
    expect(outcomes).to.deep.equal([]);
    const counted = ['upstream_rq_timeout', 'upstream_rq_per_try_timeout', 'upstream_rq_retry'].map((name) =>
      gw.stat(name),
    );
    expect(counted).to.deep.equal([0, 0, 0]);
  });

  it('blames a host that reads no body', async () => {
    const upstream = await rawUpstream((socket) => void socket.pause());
    const outcomes: AttemptOutcome[] = [];
    const onAttempt = (outcome: AttemptOutcome): void => void outcomes.push(outcome);
    const gw = await retrying(upstream.port, { retryOn: '5xx', numRetries: 1 }, { timeoutMs: 300, onAttempt });
    const req = request(gw.url, { method: 'POST' }).on('error', () => {});
    req.end(Buffer.alloc(32 * 1024 * 1024));
    const [res] = await once(req, 'response');
    expect(res.statusCode).to.equal(504);
    expect(outcomes).to.have.length(1);
    expect(gw.stat('upstream_rq_timeout')).to.equal(1);
    req.destroy();
  });
});
