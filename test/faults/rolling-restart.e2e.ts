import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { askOnce } from '../../apps/gateway/test/workers/requests.ts';
import { skipWithout } from '../parts/apt.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { mixedFlows } from './flows.ts';
import { startPlaneWorld, type PlaneWorld } from './plane-world.ts';
import { underTraffic } from './traffic.ts';
import { settle } from './world.ts';

/** All proxies and control planes are restarted so often, one after the other. */
const ROUNDS = Number(process.env['ROLLING_RESTARTS'] ?? 2);
/** Of the mix, so that it is about 200 requests a second. */
const TIMES = 1.6;
/** A WebSocket of a proxy that stops is closed with status 1001. */
const RECONNECTING = ['served', 'told to reconnect'];

describe('rolling restarts of three proxies and two control planes, under traffic', function () {
  this.timeout(60_000 + ROUNDS * 300_000);
  let redis: RedisServer;
  let world: PlaneWorld;
  before(async function () {
    await skipWithout(this, 'redis-server');
    redis = await startRedis();
    world = await startPlaneWorld({ redis: redis.host, proxies: 3, controlPlanes: 2 });
    await settle(world);
  });
  after(async () => {
    await world?.close();
    await redis?.close();
  });

  it(`loses no request in ${ROUNDS} rounds, and applies a change in each`, async () => {
    const { balancer, controlPlanes, proxies } = world;
    await underTraffic(`${ROUNDS} rolling restarts`, mixedFlows(world, TIMES), async (phase) => {
      phase('restarting', { upgrades: RECONNECTING, messages: RECONNECTING });
      for (let round = 1; round <= ROUNDS; round++) {
        for (const proxy of proxies) {
          proxy.child.kill('SIGTERM');
          expect(await proxy.ended()).to.equal(0);
          await world.startProxy(proxy);
        }
        for (const controlPlane of controlPlanes) {
          controlPlane.child.kill('SIGTERM');
          expect(await controlPlane.ended()).to.equal(0);
          await world.startControlPlane(controlPlane);
        }
        world.write('round.yaml', roundService(round));
        for (const proxy of proxies)
          await until(
            async () => (await askOnce(proxy.url, { host: 'round.test' })).text === String(round),
            'the change of this round',
          );
        await world.settled(proxies.length);
      }
    });
    console.log(`        ${balancer.moved} connections moved on from a proxy that refused them`);
    expect(balancer.refused).to.equal(0);
  });
});

const roundService = (round: number): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: round }
spec:
  virtualHost:
    domains: [round.test]
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: '${round}' } }]
`;
