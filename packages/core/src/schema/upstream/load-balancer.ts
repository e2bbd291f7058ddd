import { block, bool, duration, empty, float, int, named, notYet, of, type Static } from '../field.ts';

const slowStart = block({
  slowStartWindow: duration('Time during which a new endpoint receives less traffic.'),
  aggression: float('How fast its share grows.', { minimum: 0, default: 1 }),
  minWeightPercent: float('Minimum share, in percent.', { minimum: 0, maximum: 100, default: 10 }),
});
const slowStartConfig = of(slowStart, 'Slow start of new endpoints.', notYet);

const fields = block(
  {
    healthyPanicThreshold: float(
      'Panic threshold: below this share of healthy endpoints all endpoints are used, in percent.',
      {
        minimum: 0,
        maximum: 100,
        default: 50,
        ...notYet,
      },
    ),
    updateMergeWindow: duration('Time during which endpoint changes are merged.', { default: '1s', ...notYet }),
    useHostnameForHashing: bool('Hashes names instead of addresses.', { default: false, ...notYet }),
    localityWeightedLbConfig: empty('Uses the weights of localities.', notYet),
    closeConnectionsOnHostSetChange: bool('Closes connections when endpoints change.', { default: false, ...notYet }),
    roundRobin: of(block({ slowStartConfig }), 'Round robin; the default.'),
    leastRequest: of(
      block({ choiceCount: int('Number of endpoints to compare.', { minimum: 2, default: 2 }), slowStartConfig }),
      'The endpoint with the fewest active requests.',
      notYet,
    ),
    random: empty('A random endpoint.', notYet),
    ringHash: of(
      block({
        ringHashConfig: of(
          block({
            minimumRingSize: int('Minimum ring size.', { minimum: 1, maximum: 8388608, default: 1024 }),
            maximumRingSize: int('Maximum ring size.', { minimum: 1, maximum: 8388608, default: 8388608 }),
          }),
          'Size of the ring.',
        ),
      }),
      'Consistent hashing on a ring.',
      notYet,
    ),
    maglev: empty('Consistent hashing with Maglev.', notYet),
  },
  { oneOf: [{ members: ['roundRobin', 'leastRequest', 'random', 'ringHash', 'maglev'] }] },
);
/** The load balancing algorithm. */
export interface LoadBalancerConfig extends Static<typeof fields> {}
export const LoadBalancerConfig = named<LoadBalancerConfig>('LoadBalancerConfig', fields);
