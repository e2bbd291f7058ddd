import * as f from '../field.ts';

const slowStart = f.block({
  slowStartWindow: f.duration('Time during which a new host receives less traffic. Default: no slow start.'),
  aggression: f.float('How fast its share grows: 1 is linear, more is faster at first.', {
    minimum: 0.001,
    default: 1,
  }),
  minWeightPercent: f.float('Minimum share of its weight, in percent.', { minimum: 0, maximum: 100, default: 10 }),
});
const slowStartConfig = f.of(slowStart, 'Slow start of new hosts.');

const RING_SIZE = { minimum: 1, maximum: 8388608 } as const;

const fields = f.block(f.oneOf(['roundRobin', 'leastRequest', 'random', 'ringHash', 'maglev']), {
  healthyPanicThreshold: f.float(
    'Panic threshold: below this share of healthy hosts all hosts are used, in percent. 0 disables it.',
    { minimum: 0, maximum: 100, default: 50 },
  ),
  updateMergeWindow: f.duration(
    'Time during which changes of health and weight are merged, with `ringHash` and `maglev`. The other algorithms apply them at once.',
    { default: '1s' },
  ),
  useHostnameForHashing: f.flag('Hashes the names of hosts instead of their addresses, with `ringHash` and `maglev`.'),
  localityWeightedLbConfig: f.empty('Uses the weights of localities.'),
  closeConnectionsOnHostSetChange: f.flag(
    'Closes all connections after their requests when hosts are added or removed.',
  ),
  roundRobin: f.group('Round robin by weight; the default.', { slowStartConfig }),
  leastRequest: f.group(
    'The host with the fewest active requests. With different weights: round robin by weight, divided by the active requests.',
    {
      choiceCount: f.int('Number of random hosts to compare.', { minimum: 2, default: 2 }),
      slowStartConfig,
    },
  ),
  random: f.empty('A random host; weights are ignored.'),
  ringHash: f.group('Consistent hashing on a ring, by the `lbHash` of the route.', {
    ringHashConfig: f.group('Size of the ring.', {
      minimumRingSize: f.int64('Minimum number of points.', { ...RING_SIZE, default: 1024 }),
      maximumRingSize: f.int64('Maximum number of points; not smaller than the minimum.', {
        ...RING_SIZE,
        default: 8388608,
      }),
    }),
  }),
  maglev: f.empty('Consistent hashing with the table of Maglev, by the `lbHash` of the route.'),
});
/** The load balancing algorithm. */
export interface LoadBalancerConfig extends f.Static<typeof fields> {}
export const LoadBalancerConfig = f.named<LoadBalancerConfig>('LoadBalancerConfig', fields);
