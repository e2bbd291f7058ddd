import {
  asMiddleware,
  factsOf,
  httpStat,
  logRejection,
  type Concern,
  type Context,
  type Handler,
  type Scope,
} from '@edge-gateway/core';
import type { Rbac } from '@edge-gateway/core/schema';
import { rbacError } from '../error-codes.ts';
import { compilePolicies, type AccessRequest, type Decision } from './decide.ts';

/** Body of a rejection. */
export const ACCESS_DENIED = 'RBAC: access denied';

/**
 * Prepares the decision of a block; `undefined` if it disables the check, or if it is missing and `requireRbac` is not set. A block without
 * policies denies everything.
 */
export function compileAccess(block: Rbac, requireRbac = false): ((request: AccessRequest) => Decision) | undefined {
  if (block.disable || (block === UNSET && !requireRbac)) return undefined;
  return compilePolicies(block.policies ?? {});
}

/** The log contains the closest policy and the reason; the response never does. */
function compileRbac(block: Rbac, context: Context, scope?: Scope): Handler | undefined {
  const decide = compileAccess(block, scope?.settings.requireRbac);
  if (!decide) return undefined;
  const allowed = context.metrics.counter(httpStat('rbac.allowed'));
  const denied = context.metrics.counter(httpStat('rbac.denied'));
  const log = context.log.get('rbac');
  return function rbac(req, _res, next) {
    const facts = factsOf(req);
    const decision = decide({ method: facts.method, path: facts.path, claims: facts.claims });
    if (decision.allowed) {
      allowed.value++;
      facts.isGuarded = true;
      return next();
    }
    denied.value++;
    const { closest: policy, reason } = decision;
    logRejection(log, { requestId: facts.requestId, policy, reason }, 'access denied');
    return next(
      rbacError('ERR_RBAC_DENIED', ACCESS_DENIED, {
        headers: { 'content-type': 'text/plain' },
        reply: { body: ACCESS_DENIED, details: 'rbac_access_denied_matched_policy[none]' },
      }),
    );
  };
}

/** The block of a virtual host and route without policies: with `requireRbac` it denies everything. */
const UNSET: Rbac = Object.freeze({});

/** Returns the block that applies to a route; that of the route replaces that of its virtual host. */
export function accessBlockOf(levels: readonly { readonly rbac?: Rbac }[]): Rbac {
  return levels.findLast(({ rbac }) => rbac)?.rbac ?? UNSET;
}

/** Policies of a virtual host or route. */
export const rbacConcern: Concern<Rbac> = {
  name: 'rbac',
  option: 'rbac',
  stage: 'rbac',
  pick: accessBlockOf,
  compile: compileRbac,
};

/**
 * Role-based access control in your own server, after `jwt`. Rejects with `ERR_RBAC_DENIED` 403: see `onRefusal`.
 *
 * @example
 * app.use(jwt({ providers }), rbac({ policies: { admins: { principals: [{ jwtPrincipal: { claims: { role: 'admin' } } }] } } }));
 */
export const rbac = asMiddleware(rbacConcern, 'Rbac');
