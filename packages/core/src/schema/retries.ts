import { block, duration, enumeration, int, list, named, of, text, type Static } from './field.ts';

const fields = block({
  retryOn: text('Conditions, separated by commas, e.g. `5xx,connect-failure`.'),
  numRetries: int('Retries after the first attempt. 0 and unset mean 1.', { minimum: 0, default: 1 }),
  perTryTimeout: duration('Longest time for one attempt. Default: the timeout of the route.'),
  retryBackOff: of(
    block({
      baseInterval: duration('First wait between attempts.', { default: '25ms' }),
      maxInterval: duration('Longest wait. Default: ten times the base.'),
    }),
    'Wait between attempts; grows with each one.',
  ),
  previousPriorities: of(
    block({ updateFrequency: int('Attempts after which another priority is tried.', { minimum: 1, default: 1 }) }),
    'Sends retries to endpoints of other priorities.',
  ),
  retriableStatusCodes: list(
    int(undefined, { minimum: 100, maximum: 599 }),
    'Statuses that `retriable-status-codes` retries.',
  ),
  rateLimitedRetryBackOff: of(
    block({
      resetHeaders: list(
        block({
          name: text('Header that says when to come back.'),
          format: enumeration(['SECONDS', 'UNIX_TIMESTAMP'], 'How it says so.', { default: 'SECONDS' }),
        }),
        'Headers that are looked at, in order.',
      ),
      maxInterval: duration('Longest wait that a header can ask for.', { default: '300s' }),
    }),
    'Waits as long as the upstream asks for.',
  ),
});
/** When and how often a request is tried again. A route's block replaces the virtual host's. */
export interface Retries extends Static<typeof fields> {}
export const Retries = named<Retries>('Retries', fields);
