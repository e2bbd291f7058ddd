import type { FieldProblem } from '../../resource/problem.ts';
import { STATUS_CODES } from 'node:http';
import { parseDuration } from '../../syntax/duration.ts';
import type { ExtAuthServer } from '../../schema/auth/extauth.ts';
import type { Check } from '../check.ts';
import { addedNameProblem } from '../route/header-manipulation.ts';

/** True for a status that exists and can end an answer: 1xx only announce one. */
function isFinalStatus(status: number): boolean {
  return status >= 200 && STATUS_CODES[status] !== undefined;
}

/** Problems of the settings of external auth. */
export const checkExtAuth: Check<ExtAuthServer> = ({ statusOnError, requestTimeout, userIdHeader }, at) => {
  const unless = (good: boolean, field: string, message: string): FieldProblem[] =>
    good ? [] : [{ code: 'INVALID_EXT_AUTH', path: [...at, field], message }];
  const header = userIdHeader ? addedNameProblem(userIdHeader) : undefined;
  return [
    ...unless(
      statusOnError === undefined || isFinalStatus(statusOnError),
      'statusOnError',
      `${statusOnError} is no status that can end an answer`,
    ),
    ...unless(!isZero(requestTimeout), 'requestTimeout', 'without any time nobody can be asked'),
    ...unless(header === undefined, 'userIdHeader', header ?? ''),
  ];
};

/** What is no duration is told of elsewhere. */
function isZero(written: string | undefined): boolean {
  try {
    return written !== undefined && parseDuration(written) === 0;
  } catch {
    return false;
  }
}
