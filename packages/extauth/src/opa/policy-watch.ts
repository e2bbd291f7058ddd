import type { ControlPlaneState, Observed, ObservedProblem, PolicySource, ResourceKey } from '@edge-gateway/core';
import type { AuthConfigSpec, OpaAuth } from '@edge-gateway/core/schema';
import { keyOf, type PolicyCompiler } from './compiler.ts';
import { createPolicyRunner } from './policy-runner.ts';

/** Options of {@link createPolicyWatch}. */
export interface PolicyWatchOptions {
  readonly compiler: PolicyCompiler;
  /** Receives what was observed, e.g. `observe` of a control plane; `undefined` once an AuthConfig has no problems. */
  readonly observe: (key: ResourceKey, observed: Observed | undefined) => void;
}

/** Reports policies that cannot be compiled or loaded in the status of their AuthConfigs. */
export interface PolicyWatch {
  /** Sets the newest AuthConfigs; new and changed policies are compiled. Resolves when they are reported. */
  update(state: Pick<ControlPlaneState, 'authConfigs'>): Promise<void>;
  close(): void;
}

interface Step {
  readonly index: number;
  readonly query: string;
  readonly sources: readonly PolicySource[];
}

/**
 * Creates the watch.
 *
 * @example
 * const watch = createPolicyWatch({ compiler, observe: controlPlane.observe });
 * controlPlane.subscribe((state) => void watch.update(state));
 */
export function createPolicyWatch({ compiler, observe }: PolicyWatchOptions): PolicyWatch {
  /** The policies of each AuthConfig, as a key. */
  let watched = new Map<ResourceKey, string>();
  const reported = new Set<ResourceKey>();
  let closed = false;

  async function check(key: ResourceKey, steps: readonly Step[]): Promise<void> {
    const version = watched.get(key);
    const problems = (await Promise.all(steps.map(problemsOf))).flat();
    if (closed || watched.get(key) !== version) return;
    if (problems.length > 0) reported.add(key);
    else if (!reported.delete(key)) return;
    observe(key, problems.length > 0 ? { problems, notes: [] } : undefined);
  }

  async function problemsOf({ index, query, sources }: Step): Promise<ObservedProblem[]> {
    try {
      const runner = createPolicyRunner(await compiler.compile({ sources, query }));
      await runner.load().finally(() => runner.close());
      return [];
    } catch (error) {
      const path = ['spec', 'configs', index, 'opaAuth'];
      return [{ severity: 'error', path, message: (error as Error).message }];
    }
  }

  return {
    async update({ authConfigs }) {
      const before = watched;
      watched = new Map();
      const checks: Promise<void>[] = [];
      for (const [key, { config }] of authConfigs) {
        const steps = config ? stepsOf(config.spec) : [];
        if (steps.length === 0) continue;
        const version = steps.map((step) => `${step.index} ${keyOf(step)}`).join();
        watched.set(key, version);
        if (before.get(key) !== version) checks.push(check(key, steps));
      }
      for (const key of reported) {
        if (watched.has(key)) continue;
        reported.delete(key);
        queueMicrotask(() => observe(key, undefined));
      }
      await Promise.all(checks);
    },
    close() {
      closed = true;
    },
  };
}

function stepsOf({ configs = [] }: AuthConfigSpec): Step[] {
  return configs.flatMap(({ opaAuth }, index) => {
    const { sources = [], query = '' } = (opaAuth ?? {}) as OpaAuth & { readonly sources?: readonly PolicySource[] };
    return sources.length > 0 ? [{ index, query, sources }] : [];
  });
}
