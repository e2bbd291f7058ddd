import type { RateLimit, RateLimitBasic, RateLimitDescriptor } from '@edge-gateway/core/schema';
import { constant, dynamic, type CompiledAction } from './actions.ts';
import { describe, type CompiledDescriptor } from './compile-actions.ts';
import { GENERIC_KEY, type Descriptor } from './descriptor.ts';
import type { DescribedRequest } from './request.ts';

/** The rule of a `ratelimitBasic`, and the descriptor of a request. */
export interface CompiledBasic {
  /** For {@link compileRules} of the domain `basic`. */
  readonly rule: RateLimitDescriptor;
  /** Of which a request has one at most. */
  readonly descriptors: readonly CompiledDescriptor[];
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
  const rules: RateLimitDescriptor[] = [];
  const descriptors: CompiledDescriptor[] = [];
  const limit = (kind: string, key: string, rateLimit: RateLimit, valueOf: CompiledAction['valueOf']): void => {
    rules.push({ key: KIND, value: kind, descriptors: [{ key, rateLimit }] });
    const actions = [constant(GENERIC_KEY, scope), constant(KIND, kind), dynamic(key, valueOf)];
    descriptors.push({ isSet: false, actions, limitOf: undefined, costOf: undefined });
  };
  if (anonymousLimits) {
    limit(ANONYMOUS, ADDRESS, anonymousLimits, ({ userId, clientAddress }) =>
      userId === undefined ? clientAddress : undefined,
    );
  }
  if (authorizedLimits) limit(AUTHENTICATED, USER, authorizedLimits, ({ userId }) => userId);
  return {
    rule: { key: GENERIC_KEY, value: scope, descriptors: rules },
    descriptors,
    descriptorOf(request) {
      for (const each of descriptors) {
        const descriptor = describe(each, request);
        if (descriptor) return descriptor;
      }
      return undefined;
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
