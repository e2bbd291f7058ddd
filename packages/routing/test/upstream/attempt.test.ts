import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { filterRequestBody, GatewayError } from '@edge-gateway/core';
import { Cluster } from '../../src/upstream/cluster.ts';
import type { AttemptOutcome } from '../../src/upstream/attempt.ts';
import { closeAll, gateway, get, rawUpstream, snapshotOf, until, type RawAnswer } from '../forward/harness.ts';

/** A gateway that records the outcomes of attempts, as the observers of the request and of the cluster receive them. */
async function observed(answer: RawAnswer, change?: (req: IncomingMessage) => void) {
  const upstream = await rawUpstream(answer);
  const ofRequest: AttemptOutcome[] = [];
  const ofCluster: AttemptOutcome[] = [];
  const gw = await gateway({
    upstream: snapshotOf(upstream.port),
    head(req) {
      change?.(req);
      return { onAttempt: (outcome) => ofRequest.push(outcome) };
    },
  });
  const cluster = gw.upstreams.get('echo_gw-system');
  expect(cluster).to.be.instanceOf(Cluster);
  (cluster as Cluster).onAttempt = (outcome) => ofCluster.push(outcome);
  return { gw, ofRequest, ofCluster, port: upstream.port };
}

describe('the outcome of an attempt', () => {
  afterEach(closeAll);

  it('is the status of the response', async () => {
    const { gw, ofRequest, ofCluster, port } = await observed((socket) =>
      socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'),
    );
    await get(gw.url);
    expect(ofRequest).to.have.length(1);
    expect(ofRequest[0]).to.deep.include({ attempt: 1, status: 503, reason: undefined });
    expect(ofRequest[0]?.host).to.include({ address: '127.0.0.1', port });
    expect(ofRequest[0]?.elapsedMs).to.be.greaterThan(0);
    expect(ofCluster).to.deep.equal(ofRequest);
  });

  it('is the reason of a failure before the response', async () => {
    const { gw, ofRequest, ofCluster } = await observed((socket) => socket.destroy());
    await get(gw.url, { method: 'POST', body: 'x' });
    expect(ofRequest.map(({ status, reason }) => [status, reason?.flags])).to.deep.equal([[0, 'UC']]);
    expect(ofCluster).to.deep.equal(ofRequest);
  });

  for (const [what, error, status] of [
    [
      'rejects the request',
      new GatewayError('no', { code: 'ERR_X', status: 403, reply: { body: 'no', flags: 'RL' } }),
      403,
    ],
    ['fails', new Error('secret'), 500],
  ] as const)
    it(`is not reported about the host if a filter of the request body ${what}`, async () => {
      const failing = (req: IncomingMessage): void =>
        filterRequestBody(req, async function* (chunks) {
          yield* chunks;
          throw error;
        });
      const { gw, ofRequest, ofCluster } = await observed(() => {}, failing);
      const answer = await get(gw.url, { method: 'POST', body: 'x' });
      expect(answer.status).to.equal(status);
      expect(answer.body).to.not.include('secret');
      expect(ofRequest.map(({ reason }) => reason?.failure.status)).to.deep.equal([status]);
      expect(ofCluster).to.deep.equal([]);
      expect(ofRequest[0]!.host).to.include({ rqError: 0, rqSuccess: 0 });
    });

  it('is reported again when the body breaks off', async () => {
    const { gw, ofCluster } = await observed((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
      setImmediate(() => socket.destroy());
    });
    await get(gw.url).catch(() => undefined);
    await until(() => ofCluster.length === 2, 'two reports');
    expect(ofCluster.map(({ status, reason }) => [status, reason?.flags])).to.deep.equal([
      [200, undefined],
      [200, 'UC'],
    ]);
  });
});
