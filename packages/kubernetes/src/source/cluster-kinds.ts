import { KINDS, type Kind } from '@edge-gateway/core';
import type { ResourceType } from '../watch/cluster-object.ts';

/** Read only where other resources refer to them. */
export const REFERENCED_KINDS = ['Secret', 'ConfigMap'] as const satisfies readonly Kind[];
export type ReferencedKind = (typeof REFERENCED_KINDS)[number];

export const NAMESPACES: ResourceType = { group: '', version: 'v1', plural: 'namespaces' };

/** Returns the resource type of a kind, in its preferred version. */
export function typeOfKind(kind: Kind): ResourceType {
  return typesOfKind(kind)[0]!;
}

/** Returns all resource types of a kind: Settings are in two groups. */
export function typesOfKind(kind: Kind): readonly ResourceType[] {
  const { apiVersions, plural } = KINDS.get(kind)!;
  return apiVersions.map((apiVersion) => {
    const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
    return { group, version, plural };
  });
}

/** Returns the kind with a name in an API group, and its resource type; `undefined` for kinds of others. */
export function kindInGroup(
  name: string,
  group: string,
): { readonly kind: Kind; readonly type: ResourceType } | undefined {
  const kind = KINDS.get(name as Kind)?.kind;
  const type = kind && typesOfKind(kind).find((each) => each.group === group);
  return type && { kind, type };
}

/** Kinds that clusters with older resource definitions lack. */
const NEW_KINDS: ReadonlySet<Kind> = new Set(['ListenerOption', 'HttpListenerOption']);

/** The types that the gateway follows: all but those that are read on demand, and Proxies, which it writes. */
export const FOLLOWED_TYPES: readonly FollowedType[] = [...KINDS.keys()]
  .filter((kind) => kind !== 'Secret' && kind !== 'ConfigMap' && kind !== 'Proxy')
  .flatMap((kind) => typesOfKind(kind).map((type, i) => ({ kind, type, isOptional: i > 0 || NEW_KINDS.has(kind) })));

export interface FollowedType {
  readonly kind: Kind;
  readonly type: ResourceType;
  /** True for what many clusters lack: the other versions of a kind, and new kinds. */
  readonly isOptional: boolean;
}
