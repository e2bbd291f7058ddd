import type { RouteSpec } from '../../schema/route/route.ts';
import type { RouteOptions } from '../../schema/route/route-options.ts';
import { parseDuration } from '../../syntax/duration.ts';
import { fields, reporterOf, type Check } from '../check.ts';

const report = reporterOf('NO_EFFECT');
const WARNING = { severity: 'warning' } as const;

type RetryOptions = Pick<RouteOptions, 'retries'>;

/** Returns warnings for retries that never happen. */
export const checkRetryEffect: Check<RetryOptions> = (options, at) =>
  fields(options, at, {
    retries({ retryOn = '', retriableStatusCodes = [] }, path) {
      const conditions = retryOn.split(',').map((condition) => condition.trim());
      const lacksCodes = conditions.includes('retriable-status-codes') && retriableStatusCodes.length === 0;
      return [
        ...report(retryOn.trim() === '' && NO_CONDITION, [...path, 'retryOn'], WARNING),
        ...report(lacksCodes && NO_CODES, [...path, 'retriableStatusCodes'], WARNING),
      ];
    },
  });

/** Returns warnings for options of a route that have no effect as they are written. */
export const checkRouteEffects: Check<RouteOptions> = (options, at) => {
  const { retries, timeout, shadowing } = options;
  const attempt = retries?.perTryTimeout;
  const isLonger = attempt !== undefined && timeout !== undefined && exceeds(attempt, timeout);
  const copiesNothing = shadowing !== undefined && shadowing.percentage === undefined;
  return [
    ...report(
      isLonger && `perTryTimeout ${attempt} has no effect: timeout ${timeout} ends the request earlier`,
      [...at, 'retries', 'perTryTimeout'],
      WARNING,
    ),
    ...report(copiesNothing && NO_PERCENTAGE, [...at, 'shadowing'], WARNING),
  ];
};

/** Returns a warning for an empty rewrite, unless it leaves the rewrite to referenced options. */
export const checkEmptyRewrite: Check<RouteSpec> = ({ options, optionsConfigRefs }, at) =>
  report(
    options?.prefixRewrite === '' && !optionsConfigRefs && EMPTY_PREFIX,
    [...at, 'options', 'prefixRewrite'],
    WARNING,
  );

const NO_CONDITION = 'retries without retryOn: requests are retried only if an internal caller sends x-envoy-retry-on';
const NO_CODES = 'the condition retriable-status-codes needs retriableStatusCodes';
const NO_PERCENTAGE = 'shadowing without percentage copies no requests';
const EMPTY_PREFIX = "an empty prefixRewrite has no effect: use '/' to remove the prefix";

/** Zero is no limit. */
function exceeds(attempt: string, timeout: string): boolean {
  const limit = parseDuration(timeout);
  return limit > 0 && parseDuration(attempt) > limit;
}
