import { block, bool, duration, empty, float, int, named, notYet, of, type Static } from './field.ts';

const slowStart = block({
  slowStartWindow: duration('Time in which a new endpoint gets less.'),
  aggression: float('How fast its share grows.', { minimum: 0, default: 1 }),
  minWeightPercent: float('Smallest share, in percent.', { minimum: 0, maximum: 100, default: 10 }),
});
const slowStartConfig = of(slowStart, 'Lets new endpoints begin slowly.', notYet);

const fields = block(
  {
    healthyPanicThreshold: float('Below this share of healthy endpoints all are used, in percent.', {
      minimum: 0,
      maximum: 100,
      default: 50,
      ...notYet,
    }),
    updateMergeWindow: duration('Time in which changes of endpoints are gathered.', { default: '1s', ...notYet }),
    useHostnameForHashing: bool('Hashes names instead of addresses.', { default: false, ...notYet }),
    localityWeightedLbConfig: empty('Heeds the weights of localities.', notYet),
    closeConnectionsOnHostSetChange: bool('Closes connections when endpoints change.', { default: false, ...notYet }),
    roundRobin: of(block({ slowStartConfig }), 'One after the other; what is used when nothing is said.'),
    leastRequest: of(
      block({ choiceCount: int('Endpoints compared.', { minimum: 2, default: 2 }), slowStartConfig }),
      'The one with the fewest requests.',
      notYet,
    ),
    random: empty('By chance.', notYet),
    ringHash: of(
      block({
        ringHashConfig: of(
          block({
            minimumRingSize: int('Smallest ring.', { minimum: 1, maximum: 8388608, default: 1024 }),
            maximumRingSize: int('Largest ring.', { minimum: 1, maximum: 8388608, default: 8388608 }),
          }),
          'Size of the ring.',
        ),
      }),
      'By hash, on a ring.',
      notYet,
    ),
    maglev: empty('By hash, in a table.', notYet),
  },
  { oneOf: [{ members: ['roundRobin', 'leastRequest', 'random', 'ringHash', 'maglev'] }] },
);
/** How an endpoint is chosen. */
export interface LoadBalancerConfig extends Static<typeof fields> {}
export const LoadBalancerConfig = named<LoadBalancerConfig>('LoadBalancerConfig', fields);
