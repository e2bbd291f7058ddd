import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startGatewayBefore, type GatewayBefore } from '../faults/gateway-before.ts';
import { median } from '../../bench/measure.ts';
import { underTraffic } from '../faults/traffic.ts';
import { startHttp2Upstream, startUpstream, type Upstream } from '../faults/upstream.ts';
import { soakFlows } from './flows.ts';

/** `SOAK_MINUTES=30 npm run test:e2e test/soak/soak.e2e.ts` is the long form. */
const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 3);
const RELOAD_MS = 1000;
const MIB = 1024 * 1024;
/** Growth of the memory between the second and the last quarter of the run that is not a leak yet. */
const ALLOWED_GROWTH = 1.15;

describe(`a gateway under mixed traffic for ${MINUTES} minutes, with a reload each second`, () => {
  let upstream: Upstream;
  let http2Upstream: Upstream;
  let gateway: GatewayBefore;
  beforeEach(async () => {
    upstream = await startUpstream();
    http2Upstream = await startHttp2Upstream();
    gateway = await startGatewayBefore({ upstreamPort: upstream.port, http2UpstreamPort: http2Upstream.port });
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
    await http2Upstream.close();
  });

  function reload(version: number): void {
    const headers = { responseHeadersToAdd: [{ header: { key: 'x-version', value: String(version) } }] };
    gateway.reload({ headerManipulation: headers });
  }

  async function servedVersion(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/page`);
    await response.text();
    return Number(response.headers.get('x-version'));
  }

  it('loses no request, and its memory and its file descriptors stay as they were', async function () {
    this.timeout((MINUTES + 5) * 60_000);
    const files = gateway.openFiles();
    const resident: number[] = [];
    let version = 0;
    await underTraffic('soak', soakFlows(gateway.port), async () => {
      const end = performance.now() + MINUTES * 60_000;
      while (performance.now() < end) {
        reload(++version);
        resident.push(gateway.memory().now);
        await wait(RELOAD_MS);
      }
    });
    await until(async () => (await servedVersion()) === version, 'the last version');
    const quarter = Math.floor(resident.length / 4);
    const early = median(resident.slice(quarter, 2 * quarter));
    const late = median(resident.slice(-quarter));
    console.log(
      `      ${version} reloads, RSS ${Math.round(early / MIB)} → ${Math.round(late / MIB)} MiB, ` +
        `peak ${Math.round(gateway.memory().peak / MIB)} MiB`,
    );
    expect(late / early).to.be.below(ALLOWED_GROWTH);
    // The pool of the upstream and the connection of the last look remain.
    await until(() => gateway.openFiles() <= files + 40, 'closed file descriptors');
  });
});
