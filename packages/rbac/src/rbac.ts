import {
  asMiddleware,
  factsOf,
  GatewayError,
  type Concern,
  type Context,
  type Handler,
  type Scope,
} from '@edge-gateway/core';
import type { Rbac } from '@edge-gateway/core/schema';
import { compilePolicies } from './decide.ts';

/**
 * Lets in whom a policy names. A block without policies denies everything; `disable` exempts.
 * The log says which policy came closest and what it lacked; the answer never does.
 */
function compileRbac(block: Rbac, context: Context, scope?: Scope): Handler | undefined {
  if (block.disable || (block === UNSET && !scope?.settings.requireRbac)) return undefined;
  const decide = compilePolicies(block.policies ?? {});
  const stats = statsOf(context);
  const log = context.log.get('rbac');
  return function rbac(req, _res, next) {
    const facts = factsOf(req);
    const decision = decide({ method: facts.method, path: facts.path, claims: facts.claims });
    if (decision.allowed) {
      stats.allowed.value++;
      return next();
    }
    stats.denied.value++;
    log.info({ requestId: facts.requestId, policy: decision.closest, reason: decision.reason }, 'access denied');
    return next(
      new GatewayError('RBAC: access denied', {
        code: 'ERR_RBAC_DENIED',
        status: 403,
        headers: { 'content-type': 'text/plain' },
        reply: { body: 'RBAC: access denied', details: 'rbac_access_denied_matched_policy[none]' },
      }),
    );
  };
}

function statsOf({ metrics }: Context) {
  const counter = (what: string) =>
    metrics.counter({
      path: `http.http.rbac.${what}`,
      metric: `envoy_http_rbac_${what}`,
      labels: { envoy_http_conn_manager_prefix: 'http' },
    });
  return { allowed: counter('allowed'), denied: counter('denied') };
}

/** Stands for a virtual host and route that say nothing: with `requireRbac` nobody may do anything there. */
const UNSET: Rbac = Object.freeze({});

/** Policies of a virtual host or route; the route's replace the host's. */
export const rbacConcern: Concern<Rbac> = {
  name: 'rbac',
  option: 'rbac',
  stage: 'rbac',
  pick: (levels) => (levels as readonly { readonly rbac?: Rbac }[]).findLast(({ rbac }) => rbac)?.rbac ?? UNSET,
  compile: compileRbac,
};

/**
 * Role-based access control in your own server, behind `jwt`. Rejects with `ERR_RBAC_DENIED` 403: see `onRefusal`.
 *
 * @example
 * app.use(jwt({ providers }), rbac({ policies: { admins: { principals: [{ jwtPrincipal: { claims: { role: 'admin' } } }] } } }));
 */
export const rbac = asMiddleware(rbacConcern);
