import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';

const fields = f.block({
  maxConnections: f.uint32(
    'Maximum number of connections to all hosts, with those of WebSockets. Each host may always have one.',
    {
      default: DEFAULTS.maxConnections,
    },
  ),
  maxPendingRequests: f.uint32('Maximum number of requests that wait for a connection to a host.', {
    default: DEFAULTS.maxPendingRequests,
  }),
  maxRequests: f.uint32('Maximum number of active requests, without waiting ones; above it 503.', {
    default: DEFAULTS.maxRequests,
  }),
  maxRetries: f.uint32('Maximum number of active retries; above it a response is not retried.', {
    default: DEFAULTS.maxRetries,
  }),
  trackRemaining: f.flag(
    'Reports what is left of each limit in the statistics, `circuit_breakers.default.remaining_*`.',
  ),
});
/** Limits towards one upstream. */
export interface CircuitBreakers extends f.Static<typeof fields> {}
export const CircuitBreakers = f.named<CircuitBreakers>('CircuitBreakers', fields);
