import type { RateLimitBasic, RateLimitDescriptor } from '@edge-gateway/core/schema';
import { GENERIC_KEY, type Descriptor } from './descriptor.ts';
import type { DescribedRequest } from './request.ts';

/** The rule of a `ratelimitBasic`, and the descriptor of a request. */
export interface CompiledBasic {
  /** For {@link compileRules} of the domain `basic`. */
  readonly rule: RateLimitDescriptor;
  /** Returns `undefined` if there is no limit for this kind of user. */
  descriptorOf(request: DescribedRequest): Descriptor | undefined;
}

/**
 * Compiles a `ratelimitBasic`. Requests with a user are counted by the user's id, others by client address. `scope` is the name of the
 * virtual host, or the {@link routeScope}; it is part of the counters.
 *
 * @example
 * const { rule, descriptorOf } = compileBasic({ anonymousLimits: { requestsPerUnit: 10, unit: 'MINUTE' } }, 'gw-system.shop');
 * const ruleSet = compileRules({ descriptors: [rule] }, { domain: 'basic' });
 */
export function compileBasic({ anonymousLimits, authorizedLimits }: RateLimitBasic, scope: string): CompiledBasic {
  const descriptors: RateLimitDescriptor[] = [];
  if (anonymousLimits) descriptors.push(kindOfUser(ANONYMOUS, { key: ADDRESS, rateLimit: anonymousLimits }));
  if (authorizedLimits) descriptors.push(kindOfUser(AUTHENTICATED, { key: USER, rateLimit: authorizedLimits }));
  const first = { key: GENERIC_KEY, value: scope };
  return {
    rule: { ...first, descriptors },
    descriptorOf({ userId, clientAddress }) {
      if (userId !== undefined) {
        if (!authorizedLimits) return undefined;
        return { isSet: false, entries: [first, { key: KIND, value: AUTHENTICATED }, { key: USER, value: userId }] };
      }
      if (!anonymousLimits || clientAddress === undefined) return undefined;
      return {
        isSet: false,
        entries: [first, { key: KIND, value: ANONYMOUS }, { key: ADDRESS, value: clientAddress }],
      };
    },
  };
}

/**
 * Returns the name of a route that is unique in all virtual hosts: names of resources contain dots, but no slash.
 *
 * @example
 * routeScope('gw-system.shop', 'login'); // 'gw-system.shop/login'
 */
export function routeScope(virtualHost: string, route: string): string {
  return `${virtualHost}/${route}`;
}

const KIND = 'header_match';
const AUTHENTICATED = 'is-authenticated';
const ANONYMOUS = 'not-authenticated';
const ADDRESS = 'remote_address';
const USER = 'user_id';

function kindOfUser(value: string, rule: RateLimitDescriptor): RateLimitDescriptor {
  return { key: KIND, value, descriptors: [rule] };
}
