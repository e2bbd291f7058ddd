import { formatPath, type Problem } from '../../resource/problem.ts';
import { keyOf, type Kind, type Resource, type ResourceRef } from '../../resource/resource.ts';
import type { StoredResource, StoreState } from '../../resource/stored.ts';
import type { Derived } from '../derived.ts';

/** The resources, and what was derived from them. */
export interface Resources {
  readonly stored: StoreState['stored'];
  readonly derived: Derived;
  /** The kinds that are read. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
}

/** The target of a reference. `stale` is the reason why its newest version is not in use. */
export type Found<Spec> =
  | { readonly state: 'missing' }
  | { readonly state: 'rejected'; readonly cause: string }
  | { readonly state: 'usable'; readonly resource: Resource<Spec>; readonly stale?: string };

/** Resolves a reference. */
export function find<Spec>(stored: StoreState['stored'], kind: Kind, ref: ResourceRef): Found<Spec> {
  const entry = stored.get(keyOf(kind, ref));
  if (!entry) return { state: 'missing' };
  if (!entry.resource) return { state: 'rejected', cause: causeOf(entry) };
  const resource = entry.resource as Resource<Spec>;
  return entry.stale ? { state: 'usable', resource, stale: causeOf(entry) } : { state: 'usable', resource };
}

/** Returns the first reason why a stored resource was rejected. */
export function causeOf(stored: StoredResource): string {
  const issue = stored.issues.find((one) => one.severity === 'error');
  return issue ? issueText(issue) : 'it is not valid';
}

/** `field.path: what is wrong (hint)`. */
export function issueText({ path, message, hint }: Problem): string {
  return `${path.length > 0 ? `${formatPath(path)}: ` : ''}${message}${hint ? ` (${hint})` : ''}`;
}
