import type { Destination, RouteAction } from '../../contract/snapshot.ts';
import type { FieldProblem } from '../../resource/problem.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { SubsetSpec } from '../../schema/upstream/service-spec.ts';
import type { Reader } from '../input.ts';
import { dotted } from '../names.ts';
import { faultOf } from '../reference/missing.ts';

/** Problems of the subsets that the destinations of a route name. */
interface SubsetProblems {
  readonly errors: readonly FieldProblem[];
  readonly warnings: readonly FieldProblem[];
}

const NONE: SubsetProblems = { errors: [], warnings: [] };

/**
 * Returns errors for labels that no selector of the upstream has, and warnings for upstreams without subsets, and for destinations without a
 * subset whose upstream has no fallback.
 */
export function subsetProblems(action: RouteAction, reader: Reader): SubsetProblems {
  if (action.type !== 'forward') return NONE;
  const errors: FieldProblem[] = [];
  const warnings: FieldProblem[] = [];
  for (const { upstream, subset } of action.destinations) {
    const ref = refOf(upstream);
    const served = reader.upstream(ref).upstream;
    if (!served) continue;
    const spec = subsetSpecOf(served.spec);
    const label = `*v1.Upstream { ${dotted(ref)} }`;
    if (!subset) {
      if (spec?.fallbackPolicy === 'NO_FALLBACK') warnings.push(faultOf(`${label} ${NEVER_SERVES}`));
      continue;
    }
    const keys = Object.keys(subset).sort();
    if (!spec) warnings.push(faultOf(`${label} has no subsetSpec: the subset of the destination is ignored`));
    else if (!spec.selectors?.some((each) => sameKeys(each.keys ?? [], keys))) {
      errors.push(faultOf(`${label} has no subset selector for the keys [${keys.join(', ')}]`));
    }
  }
  return { errors, warnings };
}

const NEVER_SERVES =
  'has fallbackPolicy NO_FALLBACK: requests to a destination without a subset get 503; set subset, or another fallbackPolicy';

/** Returns the subsets of an upstream, if it has any. */
function subsetSpecOf({ static: hosts, kube, consul }: UpstreamSpec): SubsetSpec | undefined {
  return hosts?.subsetSpec ?? kube?.subsetSpec ?? consul?.subsetSpec;
}

function sameKeys(selector: readonly string[], keys: readonly string[]): boolean {
  const sorted = [...new Set(selector)].sort();
  return sorted.length === keys.length && sorted.every((key, i) => key === keys[i]);
}

/** Returns the upstream of a cluster by its name. Names of upstreams contain no underscore. */
export function refOf(cluster: Destination['upstream']) {
  const at = cluster.lastIndexOf('_');
  return { name: cluster.slice(0, at), namespace: cluster.slice(at + 1) };
}
