import { block, bool, int, named, notYet, type Static } from '../field.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;

const fields = block({
  maxConnections: int('Maximum number of connections to an endpoint.', { ...UINT32, default: 1024 }),
  maxPendingRequests: int('Maximum number of requests that wait for a connection to an endpoint.', {
    ...UINT32,
    default: 1024,
  }),
  maxRequests: int('Maximum number of active requests.', { ...UINT32, default: 1024, ...notYet }),
  maxRetries: int('Maximum number of active retries.', {
    ...UINT32,
    default: 3,
    ...notYet,
    'x-instead': 'only the retries of GraphQLApis are limited',
  }),
  trackRemaining: bool('Reports the remaining resources in the statistics.', { default: false, ...notYet }),
});
/** Limits towards one upstream. */
export interface CircuitBreakers extends Static<typeof fields> {}
export const CircuitBreakers = named<CircuitBreakers>('CircuitBreakers', fields);
