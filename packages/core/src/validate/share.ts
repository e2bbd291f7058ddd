import { shareOf, type Fraction } from '../syntax/fraction.ts';
import { reporterOf, type Check } from './check.ts';

const invalid = reporterOf('INVALID_FRACTION');

/** Returns the problem of a share above 100 %. */
export const checkFraction: Check<Fraction> = (fraction, at) => {
  const { numerator = 0, denominator = 'HUNDRED' } = fraction;
  const message = `the share ${numerator} of ${denominator} is above 100 %`;
  return invalid(shareOf(fraction) > 1 && message, [...at, 'numerator']);
};
