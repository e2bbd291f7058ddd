import { validateWritten } from '@edge-gateway/core';
import { writtenObject } from '../source/written-object.ts';
import { objectKey, type ClusterObject } from '../watch/cluster-object.ts';
import type { OptionProblem, OptionResource } from './gateway-objects.ts';

type OptionKind = OptionResource['kind'];

/** RouteOptions and VirtualHostOptions of a cluster, by `<namespace>/<name>`. */
export type OptionTables = Readonly<Record<OptionKind, ReadonlyMap<string, ClusterObject>>>;

/** Returns the options that target objects. */
export function optionsOf(tables: OptionTables): readonly OptionResource[] {
  return (['RouteOption', 'VirtualHostOption'] as const).flatMap((kind) =>
    [...tables[kind].values()].flatMap(({ metadata, spec }) => {
      const { targetRefs } = (spec ?? {}) as { targetRefs?: unknown };
      const { name, namespace = '' } = metadata;
      const valid = Array.isArray(targetRefs) ? targetRefs.filter(isTarget) : [];
      return valid.length > 0 ? [{ kind, name, namespace, targetRefs: valid }] : [];
    }),
  );
}

/** The API server allows any value here. */
function isTarget(value: unknown): value is OptionResource['targetRefs'][number] {
  return typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string';
}

/** Returns why an option cannot be used: it is not in the tables, or not valid. */
export function optionProblem(
  tables: OptionTables,
  kind: OptionKind,
  ref: { readonly name: string; readonly namespace: string },
): OptionProblem | undefined {
  const key = objectKey(ref);
  const object = tables[kind].get(key);
  if (!object) return { isMissing: true, message: `${kind} ${key} not found` };
  const fault = faultOf(kind, object);
  return fault === undefined ? undefined : { isMissing: false, message: `${kind} ${key} is not valid: ${fault}` };
}

/** Faults of objects that were validated before. */
const faults = new WeakMap<ClusterObject, string | undefined>();

function faultOf(kind: OptionKind, object: ClusterObject): string | undefined {
  if (!faults.has(object)) {
    const issues = writtenObject(kind, object).written.flatMap((written) => validateWritten(written).issues);
    faults.set(object, issues.find(({ severity }) => severity === 'error')?.message);
  }
  return faults.get(object);
}
