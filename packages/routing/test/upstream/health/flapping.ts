import { Agent, request } from 'node:http';
import { createContext, silentLoggers, type SnapshotUpstream } from '@edge-gateway/core';
import { createRouter } from '../../../src/router.ts';
import { echo, endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, upstreamOf } from '../../snapshots.ts';

/** A loaded machine takes longer for these. */
const MIN_REQUESTS = 150;

export interface FlappingRun {
  /** Milliseconds for which one of the three hosts works, and then fails, in turn. */
  readonly halfPeriodMs: number;
  readonly durationMs: number;
  readonly outlierDetection: NonNullable<SnapshotUpstream['spec']['outlierDetection']>;
}

export interface FlappingResult {
  readonly requests: number;
  readonly successes: number;
  readonly retries: number;
  readonly ejections: number;
  /** Requests that the flapping host received. */
  readonly flapped: number;
}

/** Sends requests through a router with retries to two good hosts and a flapping one. */
export async function runFlapping({
  halfPeriodMs,
  durationMs,
  outlierDetection,
}: FlappingRun): Promise<FlappingResult> {
  const begin = performance.now();
  let flapped = 0;
  const flapping = await start((req, res) => {
    flapped++;
    const works = Math.floor((performance.now() - begin) / halfPeriodMs) % 2 === 1;
    if (works) echo(req, res);
    else req.socket.destroy();
  });
  const good = [await start(echo), await start(echo)];
  const endpoints = [flapping, ...good].map(({ port }) => endpointOf(port));
  const upstream = { ...upstreamOf(endpoints), spec: { outlierDetection } };
  const options = { retries: { retryOn: '5xx,connect-failure,reset', numRetries: 2 } };
  const context = createContext({ log: silentLoggers });
  const router = createRouter({ context });
  router.apply(snapshotOf([hostOf([routeOf({ options })])], [upstream]));
  const handler = router.listener(LISTENER);
  const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
  const agent = new Agent({ keepAlive: true });
  const send = (): Promise<number> =>
    new Promise((resolve) => {
      const sent = request({ port, host: '127.0.0.1', headers: { host: 'a.example' }, agent }, (res) => {
        res.resume().on('end', () => resolve(res.statusCode!));
      });
      sent.on('error', () => resolve(0)).end();
    });
  let requests = 0;
  let successes = 0;
  async function client(): Promise<void> {
    while (performance.now() - begin < durationMs || requests < MIN_REQUESTS) {
      requests++;
      if ((await send()) === 200) successes++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  await Promise.all([client(), client(), client(), client()]);
  agent.destroy();
  const stat = (name: string): number => {
    const found = context.metrics.list().find((each) => each.name.path === `cluster.${upstream.name}.${name}`);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  const result = {
    requests,
    successes,
    retries: stat('upstream_rq_retry'),
    ejections: stat('outlier_detection.ejections_enforced_total'),
    flapped,
  };
  await router.close();
  return result;
}
