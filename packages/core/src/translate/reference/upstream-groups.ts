import type { Resource } from '../../resource/resource.ts';
import type { UpstreamGroupSpec } from '../../schema/kind/upstream-group.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { upstreamOf } from './destination-upstream.ts';
import { NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import { Reader, type TranslationInput } from '../input.ts';

/** Returns the problems of an upstream group; unlike on a route, a missing upstream is an error. */
export function groupProblems({ resource }: StoredResource, input: TranslationInput): readonly Problems[] {
  if (!resource) return [];
  const { spec, metadata } = resource as Resource<UpstreamGroupSpec>;
  const report = new Report();
  const reader = new Reader(input);
  for (const [i, { destination }] of (spec.destinations ?? []).entries()) {
    const { upstream, kube } = destination ?? {};
    if (!upstream && !kube) continue;
    const at = ['spec', 'destinations', i, 'destination', upstream ? 'upstream' : 'kube'];
    const { fault } = reader.destination(upstreamOf(destination!, metadata.namespace));
    if (fault?.code === 'MISSING_REFERENCE') report.error(fault, at);
    else if (fault) report.warn(fault, at);
  }
  const problems = report.problems();
  return problems === NO_PROBLEMS ? [] : [problems];
}
