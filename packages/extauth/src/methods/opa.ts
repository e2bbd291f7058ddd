import type { AuthDecision, AuthMethodKind, Context, PolicySource } from '@edge-gateway/core';
import type { OpaAuth } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import type { PolicyText } from '../opa/compile.ts';
import { createPolicyCompiler, keyOf, type PolicyCompiler } from '../opa/compiler.ts';
import { decisionOf } from '../opa/decision.ts';
import { inputOf } from '../opa/input-document.ts';
import { createPolicyRunner, type PolicyRunner } from '../opa/policy-runner.ts';

/** Longest time that a request waits for a policy, in milliseconds. */
const MAX_WAIT_MS = 5_000;

/** Parts of the method. */
export interface OpaParts {
  /** Compiles modules. Default: one that calls the program `opa`. */
  readonly compiler?: PolicyCompiler;
  /** Modules of every step. Default: those that the translation found for a step. */
  readonly sources?: readonly PolicySource[];
  /** True: a step whose new modules cannot be compiled keeps its previous policy. Default false: it denies. */
  readonly keepsLast?: boolean;
}

/** Rego modules, compiled to WebAssembly and evaluated in a thread. Denies until they are compiled, and if they cannot be compiled. */
export const opaMethod: AuthMethodKind<OpaAuth> = createOpaMethod();

/** Creates the method for Rego modules. */
export function createOpaMethod(parts: OpaParts = {}): AuthMethodKind<OpaAuth> {
  const { compiler = createPolicyCompiler(), keepsLast = false } = parts;
  return {
    type: 'opaAuth',
    create(spec: OpaAuth & { readonly sources?: readonly PolicySource[] }, { id, context }) {
      const sources = parts.sources ?? spec.sources ?? [];
      if (sources.length === 0) throw configError(`${id}: opaAuth has no modules`);
      const policies = context.state(`extauth.opa.${id}`, () => createPolicies(compiler, keepsLast));
      const text: PolicyText = { sources, query: spec.query ?? '' };
      const policy = policies.get(text, { id, context });
      const isFast = spec.options?.fastInputConversion ?? false;
      const withReason = spec.options?.returnDecisionReason ?? false;
      return {
        // No server is called, and what a client sends may make a policy fail: `failureModeAllow` must not apply.
        local: true,
        async authorize(request): Promise<AuthDecision> {
          const limit = AbortSignal.timeout(MAX_WAIT_MS);
          const signal = request.signal ? AbortSignal.any([limit, request.signal]) : limit;
          try {
            const runner = policy.current() ?? (await unlessAborted(policy.ready, signal));
            const input = inputOf(request, { id, now: context.now(), isFast });
            return decisionOf(await runner.evaluate(input, signal), { withReason });
          } catch (err) {
            if (request.signal?.aborted) throw err;
            context.log.get('ext_authz').error({ requestId: request.requestId, config: id, err }, 'policy failed');
            return { allowed: false, status: 403, outcome: 'indeterminate', reason: 'the policy failed' };
          }
        },
      };
    },
  };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

interface StepPlace {
  readonly id: string;
  readonly context: Context;
}

interface Policy {
  readonly ready: Promise<PolicyRunner>;
  current(): PolicyRunner | undefined;
}

/** The policies of one step, in all its versions. */
function createPolicies(compiler: PolicyCompiler, keepsLast: boolean) {
  const known = new Map<string, Promise<PolicyRunner>>();
  const loaded = new Map<string, PolicyRunner>();
  /** The last version that could be loaded. */
  let last: PolicyRunner | undefined;

  async function load(key: string, text: PolicyText): Promise<PolicyRunner> {
    const runner = createPolicyRunner(await compiler.compile(text));
    await runner.load();
    loaded.set(key, runner);
    last = runner;
    return runner;
  }

  return {
    /** Returns the policy of this text: `current` is unset until it is loaded, if no previous one may be used. */
    get(text: PolicyText, { id, context }: StepPlace): Policy {
      const key = keyOf(text);
      const current = (): PolicyRunner | undefined => loaded.get(key) ?? (keepsLast ? last : undefined);
      const found = known.get(key);
      if (found) return { current, ready: found };
      // Threads of earlier versions end when they are idle.
      known.clear();
      loaded.clear();
      const ready = load(key, text);
      known.set(key, ready);
      ready.catch((err: unknown) => {
        known.delete(key);
        context.log.get('ext_authz').error({ config: id, err }, 'policy unusable');
      });
      const isLoaded = ready.then(
        () => true,
        () => false,
      );
      context.holdListeners?.(`the policy of ${id}`, isLoaded);
      return { current, ready };
    },
  };
}
