import {
  GatewayError,
  parseExpression,
  type AuthAllowed,
  type AuthDecision,
  type AuthDenied,
  type AuthMethod,
  type AuthMethodKind,
  type AuthRequest,
  type Context,
  type Expression,
  type HeaderChange,
} from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { methodOf } from './method-of.ts';

/** What the whole chain grants: as one step, with the metadata of each step under its name. */
export type ChainDecision = AuthAllowed | AuthDenied;

interface Step {
  readonly name: string;
  readonly method: AuthMethod;
}

/** What has been granted so far on the way along the chain. */
interface Progress {
  readonly request: AuthRequest;
  readonly granted: AuthAllowed;
}

type Outcome = { readonly denied: AuthDenied } | { readonly progress: Progress };

export interface ChainParts {
  /** The methods that are available. */
  readonly kinds: readonly AuthMethodKind[];
  readonly context: Context;
  /** `<namespace>.<name>` of the AuthConfig. */
  readonly id: string;
}

/**
 * Makes the chain of an AuthConfig: all steps in order, or its boolean expression. The first refusal ends it; what each
 * passing step grants is merged, and its state is seen by the next. A step that throws refuses with 403.
 * Throws `ERR_EXTAUTH_METHOD` for a method that is not available, `ERR_CORE_EXPRESSION`, and what a method throws.
 */
export function createChain(spec: AuthConfigSpec, parts: ChainParts): AuthMethod {
  const steps = (spec.configs ?? []).map((config, i): Step => {
    const name = config.name ?? `config_${i}`;
    return { name, method: methodOf(config, { ...parts, id: `${parts.id}/${name}` }) };
  });
  if (steps.length === 0)
    throw new GatewayError('an auth config needs at least one step', { code: 'ERR_EXTAUTH_CONFIG' });
  const byName = new Map(steps.map((step) => [step.name, step]));
  if (byName.size < steps.length)
    throw new GatewayError('two steps of an auth config have the same name', { code: 'ERR_EXTAUTH_CONFIG' });
  const expression = spec.booleanExpr ? parseExpression(spec.booleanExpr, new Set(byName.keys())) : allOf(steps);
  const log = parts.context.log.get('ext_authz');

  async function runStep(step: Step, progress: Progress): Promise<Outcome> {
    const decision = await Promise.resolve(step.method.authorize(progress.request)).catch(
      (error: unknown): AuthDecision => {
        log.error(
          { requestId: progress.request.requestId, config: parts.id, step: step.name, err: error },
          'auth step failed',
        );
        return { allowed: false, status: 403, reason: 'the step failed' };
      },
    );
    return decision.allowed ? { progress: grant(progress, step.name, decision) } : { denied: decision };
  }

  async function evaluate(node: Expression, progress: Progress): Promise<Outcome> {
    if (node.type === 'step') return runStep(byName.get(node.name)!, progress);
    if (node.type === 'not') {
      const inner = await evaluate(node.operand, progress);
      if ('denied' in inner) return { progress };
      return { denied: { allowed: false, status: 403, reason: 'a step passed that must not' } };
    }
    const left = await evaluate(node.left, progress);
    if (node.type === 'or') return 'denied' in left ? evaluate(node.right, progress) : left;
    return 'denied' in left ? left : evaluate(node.right, left.progress);
  }

  return {
    async authorize(request) {
      const outcome = await evaluate(expression, { request, granted: { allowed: true } });
      if ('progress' in outcome) return outcome.progress.granted;
      return spec.failOnRedirect && outcome.denied.redirect ? unauthorized(outcome.denied) : outcome.denied;
    },
    async close() {
      await Promise.all(steps.map((step) => step.method.close?.()));
    },
  };
}

function allOf(steps: readonly Step[]): Expression {
  return steps
    .map((step): Expression => ({ type: 'step', name: step.name }))
    .reduce((left, right) => ({ type: 'and', left, right }));
}

/** Scripts cannot log in: they get 401 in place of the redirect, and none of its cookies. */
function unauthorized({ reason }: AuthDenied): AuthDenied {
  return { allowed: false, status: 401, reason };
}

function grant({ request, granted }: Progress, name: string, decision: AuthAllowed): Progress {
  const state = { ...request.state, ...decision.state };
  const requestChanges = [...(granted.requestChanges ?? []), ...(decision.requestChanges ?? [])];
  return {
    request: {
      ...request,
      header: headerThrough(request, decision.requestChanges ?? []),
      headers: request.headers,
      state,
    },
    granted: {
      allowed: true,
      requestChanges,
      responseChanges: [...(granted.responseChanges ?? []), ...(decision.responseChanges ?? [])],
      userId: decision.userId ?? granted.userId,
      state,
      metadata: { ...granted.metadata, ...(decision.metadata && { [name]: decision.metadata }) },
    },
  };
}

/** Later steps see what earlier ones granted. */
function headerThrough(request: AuthRequest, changes: readonly HeaderChange[]): AuthRequest['header'] {
  return (name) => {
    const lower = name.toLowerCase();
    let value = request.header(lower);
    for (const change of changes) {
      if (change.name !== lower) continue;
      if (change.op === 'remove') value = undefined;
      else value = change.op === 'set' || value === undefined ? change.value : `${value}, ${change.value}`;
    }
    return value;
  };
}
