import { block, bool, int, named, type Static } from './field.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;

const fields = block({
  maxConnections: int('Connections at a time.', { ...UINT32, default: 1024 }),
  maxPendingRequests: int('Requests that wait for a connection.', { ...UINT32, default: 1024 }),
  maxRequests: int('Requests at a time.', { ...UINT32, default: 1024 }),
  maxRetries: int('Retries at a time.', { ...UINT32, default: 3 }),
  trackRemaining: bool('Shows in the statistics how much is left.', { default: false }),
});
/** Limits towards one upstream. */
export interface CircuitBreakers extends Static<typeof fields> {}
export const CircuitBreakers = named<CircuitBreakers>('CircuitBreakers', fields);
