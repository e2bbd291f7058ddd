import type { FieldProblem } from '../../resource/problem.ts';
import { STATUS_CODES } from 'node:http';
import { parseDuration } from '../../syntax/duration.ts';
import type { ExtAuthServer } from '../../schema/auth/extauth.ts';
import type { Check } from '../check.ts';
import { addedNameProblem } from '../route/header-manipulation.ts';

/** Returns true for a valid final status; 1xx are not final. */
function isFinalStatus(status: number): boolean {
  return status >= 200 && STATUS_CODES[status] !== undefined;
}

/** Returns problems of external auth settings. */
export const checkExtAuth: Check<ExtAuthServer> = ({ statusOnError, requestTimeout, userIdHeader }, at) => {
  const unless = (good: boolean, field: string, message: string): FieldProblem[] =>
    good ? [] : [{ code: 'INVALID_EXT_AUTH', path: [...at, field], message }];
  const header = userIdHeader ? addedNameProblem(userIdHeader) : undefined;
  return [
    ...unless(
      statusOnError === undefined || isFinalStatus(statusOnError),
      'statusOnError',
      `${statusOnError} is not a valid final status`,
    ),
    ...unless(!isZero(requestTimeout), 'requestTimeout', 'requestTimeout must be greater than 0s'),
    ...unless(header === undefined, 'userIdHeader', header ?? ''),
  ];
};

/** Invalid durations are reported elsewhere. */
function isZero(written: string | undefined): boolean {
  try {
    return written !== undefined && parseDuration(written) === 0;
  } catch {
    return false;
  }
}
