import * as f from '../field.ts';

const fields = f.block({
  retryOn: f.text('Conditions, separated by commas, e.g. `5xx,connect-failure`; one of them is enough.'),
  numRetries: f.count('Retries after the first attempt. 0 and unset mean 1.', { default: 1 }),
  perTryTimeout: f.duration(
    'Timeout of one attempt, until its response begins. Default, and if it is not shorter: the timeout of the route.',
  ),
  retryBackOff: f.group('Random delay before each retry, below an interval that doubles with each one.', {
    baseInterval: f.duration('Base interval between attempts.', { default: '25ms' }),
    maxInterval: f.duration('Maximum interval. Default: ten times the base.'),
  }),
  previousPriorities: f.group('Sends retries to hosts of other priorities.', {
    updateFrequency: f.int('Number of attempts after which another priority is tried.', { minimum: 1, default: 1 }),
  }),
  retriableStatusCodes: f.list(
    f.int(undefined, { minimum: 100, maximum: 599 }),
    'Statuses for `retriable-status-codes`.',
  ),
  rateLimitedRetryBackOff: f.group('Waits for the time that a response asks for.', {
    resetHeaders: f.groups('Headers to read, in order.', {
      name: f.text('Response header with the time to retry.'),
      format: f.choice(['SECONDS', 'UNIX_TIMESTAMP'], 'Seconds from now, or the time in seconds since 1970.'),
    }),
    maxInterval: f.duration('Maximum delay that a header can ask for; headers with a longer one are ignored.', {
      default: '300s',
    }),
  }),
});
/** Retry policy. The block of a route replaces that of its virtual host. */
export interface Retries extends f.Static<typeof fields> {}
export const Retries = f.named<Retries>('Retries', fields);
