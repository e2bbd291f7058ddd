import { http } from '../../http/node-http.ts';
import { parseDuration } from '../../syntax/duration.ts';
import type { ExtAuthServer } from '../../schema/auth/extauth.ts';
import { isHeaderName, isHeaderValue } from '../../http/reserved-headers.ts';
import { compileRegex } from '../../syntax/regex.ts';
import { each, fields, reporterOf, thrownBy, type Check } from '../check.ts';
import { addedNameProblem } from '../route/check-header-manipulation.ts';

const invalid = reporterOf('INVALID_EXT_AUTH');

/** Returns true for a valid final status; 1xx are not final. */
function isFinalStatus(status: number): boolean {
  return status >= 200 && http.STATUS_CODES[status] !== undefined;
}

/** Returns problems of external auth settings. */
export const checkExtAuth: Check<ExtAuthServer> = (server, at) => [
  ...invalid(hasCalls(server) && !hasServer(server) && 'the block names no server', at, {
    hint: 'extauthzServerRef',
  }),
  ...fields(server, at, {
    httpService: checkHttpService,
    grpcService: ({ authority = '' }, path) =>
      invalid(!isHeaderValue(authority) && 'authority contains control characters', [...path, 'authority']),
    statusOnError: (status, path) => invalid(!isFinalStatus(status) && `${status} is not a valid final status`, path),
    requestTimeout: (timeout, path) => invalid(isZero(timeout) && 'requestTimeout must be greater than 0s', path),
    userIdHeader: (name, path) => (name ? invalid(addedNameProblem(name), path) : []),
  }),
];

/** Returns problems of the auth servers in `namedExtauth`: each needs a server of its own. */
export const checkNamedExtAuth: Check<Readonly<Record<string, ExtAuthServer>>> = (servers, at) =>
  Object.entries(servers).flatMap(([name, server]) => {
    const path = [...at, name];
    const isEmpty = !hasCalls(server) && !hasServer(server);
    return [
      ...invalid(name === '' && 'an auth server needs a name', path),
      ...invalid(isEmpty && 'the block names no server', path, { hint: 'extauthzServerRef' }),
      ...checkExtAuth(server, path),
    ];
  });

const hasServer = ({ extauthzServerRef: ref }: ExtAuthServer): boolean => Boolean(ref?.name);
/** Fields that have an effect on calls of a server alone. A reference without a name is a mistake, too. */
const hasCalls = ({ httpService, grpcService, extauthzServerRef }: ExtAuthServer): boolean =>
  Boolean(httpService ?? grpcService ?? extauthzServerRef);

type HttpService = NonNullable<ExtAuthServer['httpService']>;

const checkHttpService: Check<HttpService> = ({ pathPrefix = '', request = {}, response = {} }, at) => [
  ...invalid(pathPrefixProblem(pathPrefix), [...at, 'pathPrefix']),
  ...fields(request, [...at, 'request'], {
    allowedHeaders: checkNames,
    allowedHeadersRegex: (written, path) =>
      each(written, path, (regex, at) =>
        invalid(
          thrownBy(() => compileRegex(regex)),
          at,
        ),
      ),
    headersToAdd: (added, path) =>
      Object.entries(added).flatMap(([name, value]) =>
        invalid(addedNameProblem(name) ?? valueProblem(name, value), [...path, name]),
      ),
  }),
  ...fields(response, [...at, 'response'], {
    allowedUpstreamHeaders: checkNames,
    allowedUpstreamHeadersToAppend: checkNames,
    allowedClientHeaders: checkNames,
  }),
];

const checkNames: Check<readonly string[]> = (names, at) =>
  each(names, at, (name, path) => invalid(!isHeaderName(name) && `invalid header name '${name}'`, path));

function valueProblem(name: string, value: string): string | undefined {
  return isHeaderValue(value) ? undefined : `the value of header '${name}' has control characters`;
}

function pathPrefixProblem(prefix: string): string | undefined {
  if (prefix === '') return undefined;
  if (!prefix.startsWith('/')) return `the path prefix '${prefix}' must begin with a slash`;
  return /^[!-~]+$/.test(prefix) && !/[?#]/.test(prefix)
    ? undefined
    : `the path prefix '${prefix}' has characters that paths must not contain`;
}

/** Invalid durations are reported elsewhere. */
function isZero(written: string): boolean {
  try {
    return parseDuration(written) === 0;
  } catch {
    return false;
  }
}
