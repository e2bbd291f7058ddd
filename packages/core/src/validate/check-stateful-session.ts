import { isHeaderName } from '../http/reserved-headers.ts';
import type { HttpListenerOptions } from '../schema/listener/gateway-options.ts';
import { fields, reporterOf, type Check } from './check.ts';
import { checkCookie } from './check-cookie.ts';

const invalid = reporterOf('INVALID_HASH_POLICY');

type StatefulSession = NonNullable<HttpListenerOptions['statefulSession']>;

/** Returns problems of the stateful session of a listener. */
export const checkStatefulSession: Check<StatefulSession> = (session, at) => {
  const { cookieBased, headerBased } = session;
  return [
    ...invalid(!cookieBased && !headerBased && 'statefulSession needs cookieBased or headerBased', at),
    ...invalid(cookieBased && !cookieBased.cookie && 'cookieBased needs a cookie', [...at, 'cookieBased']),
    ...fields(session, at, {
      cookieBased: (block, path) => fields(block, path, { cookie: checkCookie(invalid) }),
      headerBased: ({ headerName = '' }, path) =>
        invalid(!isHeaderName(headerName) && `invalid header name '${headerName}'`, [...path, 'headerName']),
    }),
  ];
};
