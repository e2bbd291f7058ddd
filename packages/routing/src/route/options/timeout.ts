import { DEFAULTS, parseDuration, type Route } from '@edge-gateway/core';

/** Limit of the whole upstream exchange when a route names none, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = parseDuration(DEFAULTS.routeTimeout);

/** The route's `timeout` in milliseconds; 0 is no limit. */
export function timeoutOf(options: Route['options']): number {
  return options.timeout === undefined ? DEFAULT_TIMEOUT_MS : Math.ceil(parseDuration(options.timeout));
}
