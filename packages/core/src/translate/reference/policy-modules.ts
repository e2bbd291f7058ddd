import type { PolicySource } from '../../contract/snapshot.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { AuthStep } from '../../schema/kind/auth-config.ts';
import type { ConfigMapSpec } from '../../schema/kind/secret.ts';
import { dotted } from '../names.ts';
import { find, type Resources } from './find.ts';
import { faultOf, missingFault } from './missing.ts';

/** A problem of a reference, and its path in the step. */
type Report = (fault: FieldProblem, path: FieldPath) => void;

/**
 * Returns a step with the modules of its `opaAuth` from ConfigMaps, sorted by key; the step itself without `opaAuth`. Reports
 * ConfigMaps that are missing or empty.
 */
export function withModules(
  step: AuthStep,
  {
    resources,
    namespace,
    report,
  }: { readonly resources: Resources; readonly namespace: string; readonly report: Report },
): AuthStep {
  const { opaAuth } = step;
  if (!opaAuth) return step;
  const sources = (opaAuth.modules ?? []).flatMap(({ name = '', namespace: own }, i): readonly PolicySource[] => {
    const ref = { name, namespace: own || namespace };
    const path = ['opaAuth', 'modules', i];
    const found = find<ConfigMapSpec>(resources.stored, 'ConfigMap', ref);
    const title = `ConfigMap ${dotted(ref)}`;
    if (found.state === 'missing') report(missingFault(`${title} not found`, 'ConfigMap', ref, resources), path);
    else if (found.state === 'rejected') report(faultOf(`${title} is rejected: ${found.cause}`), path);
    else {
      const modules = modulesOf(dotted(ref), found.resource.spec);
      if (modules.length === 0) report(faultOf(`${title} has no modules`), path);
      return modules;
    }
    return [];
  });
  return Object.freeze({ ...step, opaAuth: Object.freeze({ ...opaAuth, sources: Object.freeze(sources) }) });
}

function modulesOf(name: string, { data = {}, binaryData = {} }: ConfigMapSpec): PolicySource[] {
  const modules = [
    ...Object.entries(data).map(([key, text]) => ({ name: `${name}.${key}`, text })),
    ...Object.entries(binaryData).map(([key, binary]) => ({ name: `${name}.${key}`, binary })),
  ];
  return modules.sort((a, b) => (a.name < b.name ? -1 : 1)).map((each) => Object.freeze(each));
}
