import { compileRegex, fromByteString, toByteString } from '@edge-gateway/core';
import type { RateLimitAction } from '@edge-gateway/core/schema';
import type { DescribedRequest } from './request.ts';

type HeaderCondition = NonNullable<NonNullable<RateLimitAction['headerValueMatch']>['headers']>[number];

/** Tests the headers of a request. */
export type HeaderTest = (request: DescribedRequest) => boolean;

/** Returns the test that is true if all conditions match. Throws `ERR_CORE_REGEX` for an invalid expression. */
export function compileHeaderConditions(conditions: readonly HeaderCondition[]): HeaderTest {
  const tests = conditions.map(compileCondition);
  return (request) => tests.every((test) => test(request));
}

function compileCondition(condition: HeaderCondition): HeaderTest {
  const { presentMatch, invertMatch: isInverted = false } = condition;
  const name = (condition.name ?? '').toLowerCase();
  const test = valueTest(condition);
  if (!test) {
    const isExpected = (presentMatch ?? true) !== isInverted;
    return (request) => (request.header(name) !== undefined) === isExpected;
  }
  return (request) => {
    const value = request.joinedHeader ? request.joinedHeader(name) : request.header(name);
    // A missing header fails every comparison, even an inverted one, as in Envoy.
    return value !== undefined && test(value) !== isInverted;
  };
}

/** Returns the comparison with a value; `undefined` if the condition only tests presence. */
function valueTest(condition: HeaderCondition): ((value: string) => boolean) | undefined {
  const { exactMatch, regexMatch, rangeMatch, prefixMatch, suffixMatch } = condition;
  if (exactMatch !== undefined) {
    const bytes = toByteString(exactMatch);
    return (value) => value === bytes;
  }
  if (regexMatch !== undefined) {
    const regex = compileRegex(regexMatch);
    return (value) => regex.fullMatch(fromByteString(value));
  }
  if (rangeMatch !== undefined) {
    const { start = 0, end = 0 } = rangeMatch;
    return (value) => /^[+-]?\d{1,19}$/.test(value) && Number(value) >= start && Number(value) < end;
  }
  if (prefixMatch !== undefined) {
    const bytes = toByteString(prefixMatch);
    return (value) => value.startsWith(bytes);
  }
  if (suffixMatch === undefined) return undefined;
  const bytes = toByteString(suffixMatch);
  return (value) => value.endsWith(bytes);
}
