import {
  applyHeaderChanges,
  headerIn,
  identityFrom,
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
  type Identity,
} from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { methodOf } from './method-of.ts';
import { changeQuery } from './query-changes.ts';
import { runStep } from './step.ts';

/** The compiled steps of an AuthConfig. */
export interface Chain {
  authorize(request: AuthRequest): Promise<AuthDecision>;
  /** Number of body bytes that the steps need for this request. */
  bodyBytes(request: AuthRequest): number;
  close(): Promise<void>;
}

interface Step {
  readonly name: string;
  readonly method: AuthMethod;
}

/** The request for the next step, and the grants of the previous steps. */
interface Progress {
  readonly allowed: true;
  readonly request: AuthRequest;
  readonly granted: AuthAllowed;
}

type Outcome = Progress | AuthDenied;

/** What a chain is created from, besides its spec. */
export interface ChainParts {
  /** The methods that are available. */
  readonly kinds: readonly AuthMethodKind[];
  readonly context: Context;
  /** `<namespace>.<name>` of the AuthConfig. */
  readonly id: string;
  /** Timeout of a step that calls a server, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Creates the chain of an AuthConfig: all steps in order, or its boolean expression. The first denial ends it; the grants of all
 * allowing steps are merged, and each step sees the state of the one before. A step that throws or is too slow is indeterminate:
 * the request can then only be allowed by the other side of an `||`, never by a `!`.
 * Throws `ERR_EXTAUTH_METHOD` for a method that is not available, `ERR_CORE_EXPRESSION`, and what a method throws.
 */
export function createChain(spec: AuthConfigSpec, parts: ChainParts): Chain {
  const steps = (spec.configs ?? []).map((config, i): Step => {
    const name = config.name || `config_${i}`;
    return { name, method: methodOf(config, { ...parts, id: `${parts.id}/${name}` }) };
  });
  if (steps.length === 0) throw configError('an auth config needs at least one step');
  const byName = new Map(steps.map((step) => [step.name, step]));
  if (byName.size < steps.length) throw configError('two steps of an auth config have the same name');
  const expression = spec.booleanExpr ? parseExpression(spec.booleanExpr, new Set(byName.keys())) : allOf(steps);
  const { timeoutMs, id } = parts;
  const log = parts.context.log.get('ext_authz');

  async function pass({ name, method }: Step, progress: Progress): Promise<Outcome> {
    const outcome = await runStep(method, progress.request, { timeoutMs, log, config: id, step: name });
    if (outcome.allowed) return grant(progress, name, outcome);
    return outcome.metadata ? { ...outcome, metadata: { [name]: outcome.metadata } } : outcome;
  }

  async function evaluate(node: Expression, progress: Progress): Promise<Outcome> {
    if (node.type === 'step') return pass(byName.get(node.name)!, progress);
    if (node.type === 'not') {
      const inner = await evaluate(node.operand, progress);
      if (inner.allowed) return { allowed: false, status: 403, reason: 'a negated step passed' };
      return isIndeterminate(inner) ? inner : progress;
    }
    const left = await evaluate(node.left, progress);
    if (node.type === 'and') return left.allowed ? evaluate(node.right, left) : left;
    if (left.allowed) return left;
    const right = await evaluate(node.right, progress);
    return isIndeterminate(left) && !right.allowed ? { outcome: 'indeterminate', ...right } : right;
  }

  return {
    async authorize(request) {
      const outcome = await evaluate(expression, { allowed: true, request, granted: { allowed: true } });
      if (outcome.allowed) return outcome.granted;
      // Scripts cannot log in: they get 401 instead of the redirect, without its cookies.
      return spec.failOnRedirect && outcome.redirect
        ? { allowed: false, status: 401, reason: outcome.reason }
        : outcome;
    },
    bodyBytes: (request) => Math.max(0, ...steps.map(({ method }) => method.bodyBytes?.(request) ?? 0)),
    async close() {
      await Promise.all(steps.map(({ method }) => method.close?.()));
    },
  };
}

/** A failed side of an `||` might have passed, which a `!` before it must not ignore. */
function isIndeterminate(outcome: Outcome): boolean {
  return !outcome.allowed && outcome.outcome !== undefined;
}

function allOf(steps: readonly Step[]): Expression {
  return steps
    .map((step): Expression => ({ type: 'step', name: step.name }))
    .reduce((left, right) => ({ type: 'and', left, right }));
}

/** Later steps see what earlier ones granted. */
function grant({ request, granted }: Progress, name: string, decision: Extract<AuthDecision, AuthAllowed>): Progress {
  const state = { ...(decision.newState ?? request.state), ...decision.state };
  const { requestChanges: changes = [], queryChanges = [] } = decision;
  const { userId = granted.userId, logoutPath = granted.logoutPath, isSessionOpen = granted.isSessionOpen } = decision;
  const identity = identityOf(name, decision) ?? granted.identity;
  return {
    allowed: true,
    request: {
      ...request,
      ...(changes.length > 0 && headersThrough(request, withoutClientCopies(changes, granted.requestChanges))),
      path: changeQuery(request.path, queryChanges),
      state,
    },
    granted: {
      allowed: true,
      requestChanges: [...(granted.requestChanges ?? []), ...changes],
      responseChanges: [...(granted.responseChanges ?? []), ...(decision.responseChanges ?? [])],
      queryChanges: [...(granted.queryChanges ?? []), ...queryChanges],
      ...(userId !== undefined && { userId }),
      ...(identity && { identity }),
      ...(logoutPath !== undefined && { logoutPath }),
      ...(isSessionOpen && { isSessionOpen }),
      state,
      metadata: { ...granted.metadata, ...(decision.metadata && { [name]: decision.metadata }) },
    },
  };
}

/** Makes appended values extend those of earlier steps, never the client's own header. */
function withoutClientCopies(
  changes: readonly HeaderChange[],
  earlier: readonly HeaderChange[] = [],
): readonly HeaderChange[] {
  const touched = new Set(earlier.map(({ name }) => name));
  return changes.flatMap((change): HeaderChange[] => {
    const isFirst = !touched.has(change.name);
    touched.add(change.name);
    return isFirst && change.op === 'append' ? [{ op: 'remove', name: change.name }, change] : [change];
  });
}

function identityOf(step: string, { userId, claims }: AuthAllowed): Identity | undefined {
  return userId === undefined && !claims ? undefined : identityFrom(step, claims ?? {}, userId);
}

function headersThrough(request: AuthRequest, requestChanges: readonly HeaderChange[]) {
  const flat = applyHeaderChanges(request.headers(), requestChanges);
  return {
    headers: () => flat,
    header: (name: string) => headerIn(flat, name.toLowerCase()),
  };
}
