import { block, duration, enumeration, int, list, named, of, text, type Static } from '../field.ts';

const fields = block({
  retryOn: text('Conditions, separated by commas, e.g. `5xx,connect-failure`.'),
  numRetries: int('Retries after the first attempt. 0 and unset mean 1.', { minimum: 0, default: 1 }),
  perTryTimeout: duration('Timeout of one attempt. Default: the timeout of the route.'),
  retryBackOff: of(
    block({
      baseInterval: duration('Base interval between attempts.', { default: '25ms' }),
      maxInterval: duration('Maximum interval. Default: ten times the base.'),
    }),
    'Backoff between attempts; grows with each one.',
  ),
  previousPriorities: of(
    block({
      updateFrequency: int('Number of attempts after which another priority is tried.', { minimum: 1, default: 1 }),
    }),
    'Sends retries to endpoints of other priorities.',
  ),
  retriableStatusCodes: list(int(undefined, { minimum: 100, maximum: 599 }), 'Statuses for `retriable-status-codes`.'),
  rateLimitedRetryBackOff: of(
    block({
      resetHeaders: list(
        block({
          name: text('Header with the time to retry.'),
          format: enumeration(['SECONDS', 'UNIX_TIMESTAMP'], 'How it says so.', { default: 'SECONDS' }),
        }),
        'Headers to read, in order.',
      ),
      maxInterval: duration('Maximum delay that a header can request.', { default: '300s' }),
    }),
    'Waits as long as the upstream requests.',
  ),
});
/** Retry policy. The block of a route replaces that of its virtual host. */
export interface Retries extends Static<typeof fields> {}
export const Retries = named<Retries>('Retries', fields);
