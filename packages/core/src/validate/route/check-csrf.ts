import type { Csrf } from '../../schema/route/small-options.ts';
import { fields, type Check } from '../check.ts';
import { checkFraction } from '../share.ts';

type Enabled = NonNullable<Csrf['filterEnabled']>;

const checkEnabled: Check<Enabled> = (enabled, at) => fields(enabled, at, { defaultValue: checkFraction });

/** Returns problems of `csrf`: shares above 100 %. */
export const checkCsrf: Check<Csrf> = (csrf, at) =>
  fields(csrf, at, { filterEnabled: checkEnabled, shadowEnabled: checkEnabled });
