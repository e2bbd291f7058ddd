import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until, type GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import { numbersOf } from '../../apps/gateway/test/workers/requests.ts';
import { skipWithout } from '../parts/apt.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { mixedFlows } from './flows.ts';
import { startPlaneWorld, type PlaneWorld } from './plane-world.ts';
import { underTraffic } from './traffic.ts';
import { openClient } from './raw-sockets.ts';
import { settle } from './world.ts';

const CALM_MS = 1500;
const STALL_MS = 2000;
/** A load balancer that asks whether a proxy is ready does not wait longer. */
const PROBE_MS = 1000;
/** What may happen to WebSockets of a proxy that stops. */
const RECONNECTING = ['served', 'told to reconnect'];
const STOPPING = { upgrades: RECONNECTING, messages: RECONNECTING };

/** What may happen to requests whose proxy ends at once. */
const CUT = Object.fromEntries(
  ['pages', 'scripts', 'posts', 'accounts', 'streams', 'upgrades', 'messages', 'logins', 'tokens', 'public'].map(
    (flow) => [flow, ['served', 'forbidden', 'told to reconnect', 'cut off']],
  ),
);

/** True if the proxy says in time that it is ready. */
async function isReady({ admin }: GatewayProcess): Promise<boolean> {
  try {
    const { status } = await fetch(`${admin}/ready`, { signal: AbortSignal.timeout(PROBE_MS) });
    return status === 200;
  } catch {
    return false;
  }
}

describe('proxies that stall, stop or are killed, under traffic', function () {
  this.timeout(300_000);
  let redis: RedisServer;
  let world: PlaneWorld;
  before(async function () {
    await skipWithout(this, 'redis-server');
    redis = await startRedis();
    world = await startPlaneWorld({ redis: redis.host, proxies: 2, controlPlanes: 1 });
    await settle(world);
  });
  after(async () => {
    await world?.close();
    await redis?.close();
  });

  /** Ends a proxy at once under traffic; prints how many connections to it were open. */
  async function cutOff(title: string, proxy: GatewayProcess, end: () => Promise<void>): Promise<void> {
    const { balancer } = world;
    const { host } = proxy;
    let isCut = false;
    let open = 0;
    const flows = mixedFlows(world).map((flow) => ({
      ...flow,
      send: () =>
        flow.send().catch((error: Error) => {
          if (isCut) return 'cut off';
          throw error;
        }),
    }));
    const report = await underTraffic(title, flows, async (phase) => {
      await wait(CALM_MS);
      phase('ended', CUT);
      open = balancer.openTo(host);
      isCut = true;
      await end();
      await until(() => balancer.openTo(host) === 0, 'its connections are closed');
      // What the others still send on them.
      await wait(CALM_MS);
      isCut = false;
      phase('one proxy');
      await wait(CALM_MS);
      await world.startProxy(proxy);
      phase('two proxies');
      await wait(CALM_MS);
    });
    const cut = flows.reduce(
      (sum, { name }) =>
        sum + ['before', 'ended'].reduce((of, phase) => of + (report.tally(phase, name).kinds.get('cut off') ?? 0), 0),
      0,
    );
    console.log(`        ${open} connections to it were open, ${cut} requests were in progress`);
    expect(cut).to.be.at.most(open);
  }

  it('a proxy stalls for two seconds: it is not ready, its requests are late, none is lost, and it is counted', async () => {
    const [proxy] = world.proxies as [GatewayProcess];
    const misses = async (): Promise<number> =>
      (await numbersOf(proxy, 'main_thread.watchdog_mega_miss'))['main_thread.watchdog_mega_miss']!;
    const before = await misses();
    await underTraffic('stalled proxy', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('stalled');
      proxy.child.kill('SIGSTOP');
      const resumed = wait(STALL_MS).then(() => proxy.child.kill('SIGCONT'));
      expect(await isReady(proxy)).to.equal(false);
      await resumed;
      await until(() => isReady(proxy), 'ready again');
      phase('after');
      await wait(CALM_MS);
    });
    expect(await misses()).to.be.greaterThan(before);
    expect(proxy.errors).to.contain('event loop was blocked');
  });

  it('a proxy gets SIGTERM under load: no request fails, and it ends with 0', async () => {
    const [proxy] = world.proxies as [GatewayProcess];
    await underTraffic('SIGTERM', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('stopping', STOPPING);
      proxy.child.kill('SIGTERM');
      expect(await proxy.ended()).to.equal(0);
      await wait(CALM_MS);
      await world.startProxy(proxy);
    });
  });

  it('a proxy gets a second SIGTERM: it ends at once, and only its own requests fail', async () => {
    const [proxy] = world.proxies as [GatewayProcess];
    await cutOff('second SIGTERM', proxy, async () => {
      const ended = proxy.ended();
      const before = proxy.errors.length;
      // A request in progress for which the first signal waits.
      const upload = await openClient(proxy.ready.listeners[0]!.port, proxy.host);
      upload.socket.write('POST /public HTTP/1.1\r\nHost: app.test\r\nContent-Length: 9\r\n\r\na');
      proxy.child.kill('SIGTERM');
      // Two signals are one if they are too close.
      await until(() => proxy.errors.includes('"stopping"', before), 'it stops');
      await wait(300);
      proxy.child.kill('SIGTERM');
      expect(await ended).to.equal(143);
    });
  });

  it('a proxy is killed: only its requests in progress fail', async () => {
    const [proxy] = world.proxies as [GatewayProcess];
    await cutOff('SIGKILL', proxy, async () => {
      const ended = proxy.ended();
      proxy.child.kill('SIGKILL');
      await ended;
    });
  });
});
