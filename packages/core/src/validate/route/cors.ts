import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { Cors } from '../../schema/route/cors.ts';

/** A `cors` block must allow some origin, unless it only disables CORS. */
export function checkCors({ allowOrigin, allowOriginRegex, disableForRoute }: Cors, at: FieldPath): FieldProblem[] {
  if (allowOrigin?.length || allowOriginRegex?.length || disableForRoute) return [];
  const message = 'cors must allow at least one origin';
  return [{ code: 'INVALID_CORS', path: at, message, hint: 'allowOrigin, allowOriginRegex' }];
}
