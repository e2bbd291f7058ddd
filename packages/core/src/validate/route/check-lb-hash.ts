import { isHeaderName } from '../../http/reserved-headers.ts';
import type { LbHash } from '../../schema/route/small-options.ts';
import { each, fields, reporterOf, type Check } from '../check.ts';
import { checkCookie } from '../check-cookie.ts';

const invalid = reporterOf('INVALID_HASH_POLICY');

type HashPolicy = NonNullable<LbHash['hashPolicies']>[number];

/** Returns problems of the hash policies of a route. */
export const checkLbHash: Check<LbHash> = ({ hashPolicies = [] }, at) =>
  each(hashPolicies, [...at, 'hashPolicies'], checkPolicy);

const checkPolicy: Check<HashPolicy> = (policy, at) => {
  const hashes = policy.header !== undefined || policy.cookie !== undefined || policy.sourceIp !== undefined;
  return [
    ...invalid(!hashes && 'a hash policy needs header, cookie or sourceIp', at),
    ...fields(policy, at, {
      header: (name, path) => invalid(!isHeaderName(name) && `invalid header name '${name}'`, path),
      cookie: checkCookie(invalid),
    }),
  ];
};
