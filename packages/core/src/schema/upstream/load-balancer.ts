import * as f from '../field.ts';

const slowStart = f.block({
  slowStartWindow: f.duration('Time during which a new endpoint receives less traffic.'),
  aggression: f.float('How fast its share grows.', { minimum: 0, default: 1 }),
  minWeightPercent: f.float('Minimum share, in percent.', { minimum: 0, maximum: 100, default: 10 }),
});
const slowStartConfig = f.of(slowStart, 'Slow start of new endpoints.', f.notYet);

const fields = f.block(f.oneOf(['roundRobin', 'leastRequest', 'random', 'ringHash', 'maglev']), {
  healthyPanicThreshold: f.float(
    'Panic threshold: below this share of healthy endpoints all endpoints are used, in percent.',
    {
      minimum: 0,
      maximum: 100,
      default: 50,
      ...f.notYet,
    },
  ),
  updateMergeWindow: f.duration('Time during which endpoint changes are merged.', { default: '1s', ...f.notYet }),
  useHostnameForHashing: f.flag('Hashes names instead of addresses.', f.notYet),
  localityWeightedLbConfig: f.empty('Uses the weights of localities.', f.notYet),
  closeConnectionsOnHostSetChange: f.flag('Closes connections when endpoints change.', f.notYet),
  roundRobin: f.group('Round robin; the default.', { slowStartConfig }),
  leastRequest: f.group('The endpoint with the fewest active requests.', f.notYet, {
    choiceCount: f.int('Number of endpoints to compare.', { minimum: 2, default: 2 }),
    slowStartConfig,
  }),
  random: f.empty('A random endpoint.', f.notYet),
  ringHash: f.group('Consistent hashing on a ring.', f.notYet, {
    ringHashConfig: f.group('Size of the ring.', {
      minimumRingSize: f.int('Minimum ring size.', { minimum: 1, maximum: 8388608, default: 1024 }),
      maximumRingSize: f.int('Maximum ring size.', { minimum: 1, maximum: 8388608, default: 8388608 }),
    }),
  }),
  maglev: f.empty('Consistent hashing with Maglev.', f.notYet),
});
/** The load balancing algorithm. */
export interface LoadBalancerConfig extends f.Static<typeof fields> {}
export const LoadBalancerConfig = f.named<LoadBalancerConfig>('LoadBalancerConfig', fields);
