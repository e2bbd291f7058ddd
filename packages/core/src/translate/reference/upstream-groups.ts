import { keyOf, type Resource } from '../../resource/resource.ts';
import type { UpstreamGroupSpec } from '../../schema/kind/upstream-group.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { missingFault } from './missing.ts';
import { dotted } from '../names.ts';
import { NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import type { TranslationInput } from '../input.ts';

/** Returns the problems of an upstream group; unlike on a route, a missing upstream is an error. */
export function groupProblems({ resource }: StoredResource, input: TranslationInput): readonly Problems[] {
  if (!resource) return [];
  const { spec, metadata } = resource as Resource<UpstreamGroupSpec>;
  const report = new Report();
  for (const [i, { destination }] of (spec.destinations ?? []).entries()) {
    const at = ['spec', 'destinations', i, 'destination', 'upstream'];
    const written = destination?.upstream;
    if (!written) continue;
    const ref = { name: written.name ?? '', namespace: written.namespace || metadata.namespace };
    const entry = input.upstreams.get(keyOf('Upstream', ref));
    const text = `*v1.Upstream { ${dotted(ref)} } not found`;
    if (!entry) report.error(missingFault(text, 'Upstream', ref, input), at);
    else if (entry.fault) report.warn(entry.fault, at);
  }
  const problems = report.problems();
  return problems === NO_PROBLEMS ? [] : [problems];
}
