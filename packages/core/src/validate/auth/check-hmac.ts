import type { HmacAuth } from '../../schema/auth/auth-methods.ts';
import type { Check } from '../check.ts';
import { unless } from './check-login.ts';

/** Returns the problems of a step with signed requests. */
export const checkHmac: Check<HmacAuth> = ({ secretRefs }, at) =>
  unless(
    (secretRefs?.secretRefs ?? []).length > 0,
    [...at, 'secretRefs', 'secretRefs'],
    'hmacAuth needs at least one Secret',
  );
