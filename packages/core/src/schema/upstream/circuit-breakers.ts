import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';

const fields = f.block({
  maxConnections: f.uint32('Maximum number of connections to an endpoint.', { default: DEFAULTS.maxConnections }),
  maxPendingRequests: f.uint32('Maximum number of requests that wait for a connection to an endpoint.', {
    default: DEFAULTS.maxPendingRequests,
  }),
  maxRequests: f.uint32('Maximum number of active requests.', { default: DEFAULTS.maxRequests, ...f.notYet }),
  maxRetries: f.uint32('Maximum number of active retries.', {
    default: DEFAULTS.maxRetries,
    ...f.notYet,
    'x-instead': 'only the retries of GraphQLApis are limited',
  }),
  trackRemaining: f.flag('Reports the remaining resources in the statistics.', f.notYet),
});
/** Limits towards one upstream. */
export interface CircuitBreakers extends f.Static<typeof fields> {}
export const CircuitBreakers = f.named<CircuitBreakers>('CircuitBreakers', fields);
