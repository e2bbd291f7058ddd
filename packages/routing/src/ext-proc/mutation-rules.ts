import { compileRegex, FRAMING_HEADERS } from '@edge-gateway/core';
import type { MutationRulesOptions } from '@edge-gateway/core/schema';

/** Which headers a server may change, by lower-case names. */
export interface MutationRules {
  allows(name: string): boolean;
  /** True if a change that is not allowed fails the request; otherwise it is ignored. */
  readonly failsOnRejected: boolean;
}

/** Headers by which a request is routed. `:path` is not among them. */
const ROUTING: ReadonlySet<string> = new Set(['host', ':authority', ':scheme', ':method']);

/**
 * Compiles the rules. By default a server changes neither the headers that route a request, except the path, nor those that begin with `x-envoy-`; headers that
 * frame a message or belong to a connection are never changed.
 */
export function compileMutationRules(options: MutationRulesOptions = {}): MutationRules {
  const { allowExpression, disallowExpression } = options;
  const allowed = allowExpression ? compileRegex(allowExpression) : undefined;
  const disallowed = disallowExpression ? compileRegex(disallowExpression) : undefined;
  return {
    failsOnRejected: options.disallowIsError === true,
    allows(name) {
      if (FRAMING_HEADERS.has(name) || name === 'content-length' || name === 'expect' || name === ':scheme')
        return false;
      if (disallowed?.fullMatch(name)) return false;
      if (allowed?.fullMatch(name)) return true;
      if (options.disallowAll) return false;
      if (options.disallowSystem && name.startsWith(':')) return false;
      if (ROUTING.has(name)) return options.allowAllRouting === true;
      return options.allowEnvoy === true || !name.startsWith('x-envoy-');
    },
  };
}
