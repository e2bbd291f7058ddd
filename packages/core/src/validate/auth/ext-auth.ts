import { STATUS_CODES } from 'node:http';
import { parseDuration } from '../../syntax/duration.ts';
import type { ExtAuthServer } from '../../schema/auth/extauth.ts';
import { fields, reporterOf, type Check } from '../check.ts';
import { addedNameProblem } from '../route/header-manipulation.ts';

const invalid = reporterOf('INVALID_EXT_AUTH');

/** Returns true for a valid final status; 1xx are not final. */
function isFinalStatus(status: number): boolean {
  return status >= 200 && STATUS_CODES[status] !== undefined;
}

/** Returns problems of external auth settings. */
export const checkExtAuth: Check<ExtAuthServer> = (server, at) =>
  fields(server, at, {
    statusOnError: (status, path) => invalid(!isFinalStatus(status) && `${status} is not a valid final status`, path),
    requestTimeout: (timeout, path) => invalid(isZero(timeout) && 'requestTimeout must be greater than 0s', path),
    userIdHeader: (name, path) => (name ? invalid(addedNameProblem(name), path) : []),
  });

/** Invalid durations are reported elsewhere. */
function isZero(written: string): boolean {
  try {
    return parseDuration(written) === 0;
  } catch {
    return false;
  }
}
