import { block, bool, int, named, notYet, type Static } from './field.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;

const fields = block({
  maxConnections: int('Connections to an endpoint at a time.', { ...UINT32, default: 1024 }),
  maxPendingRequests: int('Requests that wait for a connection to an endpoint.', { ...UINT32, default: 1024 }),
  maxRequests: int('Requests at a time.', { ...UINT32, default: 1024, ...notYet }),
  maxRetries: int('Retries at a time.', {
    ...UINT32,
    default: 3,
    ...notYet,
    'x-instead': 'only the retries of GraphQLApis are limited',
  }),
  trackRemaining: bool('Shows in the statistics how much is left.', { default: false, ...notYet }),
});
/** Limits towards one upstream. */
export interface CircuitBreakers extends Static<typeof fields> {}
export const CircuitBreakers = named<CircuitBreakers>('CircuitBreakers', fields);
