import { parseDuration } from '../../syntax/duration.ts';
import { MAX_DELAY_MS } from '../../time/timer.ts';
import type { Faults } from '../../schema/route/small-options.ts';
import { fields, reporterOf, type Check } from '../check.ts';

/** Minimum injected delay, in milliseconds. */
const MIN_DELAY_MS = 1000;
const invalid = reporterOf('INVALID_FAULT');

/** Returns problems of fault injection: a status or a delay that is missing or out of bounds. */
export const checkFaults: Check<Faults> = (faults, at) =>
  fields(faults, at, {
    abort: ({ httpStatus: status }, path) => {
      const isValid = status !== undefined && status >= 200 && status <= 599;
      return invalid(!isValid && 'the status of an abort must be between 200 and 599', path);
    },
    delay: ({ fixedDelay }, path) => {
      const ms = fixedDelay === undefined ? 0 : parseDuration(fixedDelay);
      if (ms < MIN_DELAY_MS) return invalid('a delay must be at least 1s', path);
      return invalid(ms > MAX_DELAY_MS && 'a delay must be at most 24 days', path);
    },
  });
