import { keyOf, type ControlPlane, type ObservedProblem, type ResourceRef } from '@edge-gateway/core';
import type { ServiceSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import type { FunctionsSink } from '@edge-gateway/graphql';
import { lazyTranscoderChecks } from './transcoder-parts.ts';

export type { FunctionsSink };

type Observe = ControlPlane['observe'];

/** The observers of functions, and of what is wrong with them. */
const FUNCTIONS = 'functions';
const FUNCTION_PROBLEMS = 'function problems';

/** Returns a sink by which functions become a part of their Upstreams in the control plane, while their files stay as they are. */
export function observedFunctions(observe: Observe): FunctionsSink {
  return {
    set: (ref, functions) => observe(keyOf('Upstream', ref), { problems: [], notes: [], functions }, FUNCTIONS),
    delete: (ref) => observe(keyOf('Upstream', ref), undefined, FUNCTIONS),
  };
}

/** Returns a sink that passes on only functions that can be served; what is wrong with others is a warning of the Upstream. */
export function checkedFunctions(sink: FunctionsSink, observe: Observe): FunctionsSink {
  const faulty = new Set<string>();

  function report(ref: ResourceRef, problems: readonly ObservedProblem[]): void {
    const key = keyOf('Upstream', ref);
    if (problems.length > 0) faulty.add(key);
    else if (!faulty.delete(key)) return;
    observe(key, problems.length > 0 ? { problems, notes: [] } : undefined, FUNCTION_PROBLEMS);
  }

  return {
    set(ref, functions) {
      const problems = problemsOf(functions);
      report(ref, problems);
      if (problems.length === 0) sink.set(ref, functions);
    },
    delete(ref) {
      report(ref, []);
      sink.delete(ref);
    },
    ...(sink.hasDiscovered && { hasDiscovered: sink.hasDiscovered }),
  };
}

/** Checks functions as those of a written Upstream. */
function problemsOf(serviceSpec: ServiceSpec): readonly ObservedProblem[] {
  const spec: UpstreamSpec = { static: { serviceSpec } };
  return lazyTranscoderChecks
    .filter(({ kind }) => kind === 'Upstream')
    .flatMap(({ check }) => check(spec as never, []))
    .map(({ message }) => ({ severity: 'warning', path: [], message: `functions cannot be discovered: ${message}` }));
}
