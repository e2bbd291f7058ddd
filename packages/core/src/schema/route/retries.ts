import * as f from '../field.ts';

const fields = f.block({
  retryOn: f.text('Conditions, separated by commas, e.g. `5xx,connect-failure`.'),
  numRetries: f.count('Retries after the first attempt. 0 and unset mean 1.', { default: 1 }),
  perTryTimeout: f.duration('Timeout of one attempt. Default: the timeout of the route.'),
  retryBackOff: f.group('Backoff between attempts; grows with each one.', {
    baseInterval: f.duration('Base interval between attempts.', { default: '25ms' }),
    maxInterval: f.duration('Maximum interval. Default: ten times the base.'),
  }),
  previousPriorities: f.group('Sends retries to endpoints of other priorities.', {
    updateFrequency: f.int('Number of attempts after which another priority is tried.', { minimum: 1, default: 1 }),
  }),
  retriableStatusCodes: f.list(
    f.int(undefined, { minimum: 100, maximum: 599 }),
    'Statuses for `retriable-status-codes`.',
  ),
  rateLimitedRetryBackOff: f.group('Waits as long as the upstream requests.', {
    resetHeaders: f.groups('Headers to read, in order.', {
      name: f.text('Header with the time to retry.'),
      format: f.choice(['SECONDS', 'UNIX_TIMESTAMP'], 'How it says so.'),
    }),
    maxInterval: f.duration('Maximum delay that a header can request.', { default: '300s' }),
  }),
});
/** Retry policy. The block of a route replaces that of its virtual host. */
export interface Retries extends f.Static<typeof fields> {}
export const Retries = f.named<Retries>('Retries', fields);
