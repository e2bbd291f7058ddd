import { compileRegex, fromByteString, type Regex } from '@edge-gateway/core';
import type { HealthCheck } from './health-spec.ts';
import { activeFailure, type CheckResult } from './probe.ts';

type Assertions = NonNullable<NonNullable<HealthCheck['httpHealthCheck']>['responseAssertions']>;
type Matcher = NonNullable<Assertions['responseMatchers']>[number];
type Health = 'healthy' | 'degraded' | 'unhealthy';

/** The response to a check. Names of headers are lower case; repeated ones are joined by a comma. */
export interface CheckedResponse {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** Assertions on the response to a check. */
export interface ResponseAssertions {
  /** True if the body is needed. */
  readonly readsBody: boolean;
  check(response: CheckedResponse): CheckResult;
}

/** A value to match; `undefined` is a missing one, `null` one that cannot be parsed. */
type Source = (response: CheckedResponse) => string | undefined | null;

/** Compiles assertions: the first matcher that matches decides, otherwise `noMatchHealth`. */
export function compileAssertions({ responseMatchers = [], noMatchHealth }: Assertions): ResponseAssertions {
  const matchers = responseMatchers.map(compileMatcher);
  const otherwise = resultOf(healthOf(noMatchHealth, 'unhealthy'), 'the response matches no assertion');
  return {
    readsBody: responseMatchers.some(({ responseMatch }) => responseMatch?.header === undefined),
    check(response) {
      for (const { matches, result } of matchers) {
        const matched = matches(response);
        if (matched === null) return activeFailure('the response is not JSON');
        if (matched) return result;
      }
      return otherwise;
    },
  };
}

function compileMatcher({ responseMatch = {}, matchHealth }: Matcher) {
  const regex: Regex = compileRegex(responseMatch.regex ?? '');
  const read = compileSource(responseMatch);
  return {
    result: resultOf(healthOf(matchHealth, 'healthy'), `the response matches ${regex.pattern}`),
    /** Returns `null` if a value is not JSON, which fails the check. */
    matches(response: CheckedResponse): boolean | null {
      const value = read(response);
      if (value === null) return responseMatch.ignoreErrorOnParse ? false : null;
      return value !== undefined && regex.fullMatch(value);
    },
  };
}

function compileSource({ header, jsonKey }: NonNullable<Matcher['responseMatch']>): Source {
  const name = header?.toLowerCase();
  const text: Source = (response) => (name === undefined ? response.body : headerOf(response, name));
  if (!jsonKey) return text;
  const path = (jsonKey.path ?? []).map(({ key = '' }) => key);
  return (response) => {
    const value = text(response);
    return typeof value === 'string' ? valueAt(value, path) : value;
  };
}

function headerOf({ headers }: CheckedResponse, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (value === undefined) return undefined;
  return fromByteString(typeof value === 'string' ? value : value.join(','));
}

/** Returns the value at a path of a JSON text: a string as it is, any other value as JSON. */
function valueAt(json: string, path: readonly string[]): string | undefined | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function healthOf(written: string | undefined, otherwise: Health): Health {
  return written === 'healthy' || written === 'degraded' || written === 'unhealthy' ? written : otherwise;
}

function resultOf(health: Health, reason: string): CheckResult {
  return health === 'unhealthy' ? activeFailure(reason) : health;
}
