import { KINDS, type Kind, type KindInfo } from '@edge-gateway/core';
import type { ResourceType } from '../watch/cluster-object.ts';

/** Read only where other resources refer to them. */
export const REFERENCED_KINDS = ['Secret', 'ConfigMap'] as const satisfies readonly Kind[];
export type ReferencedKind = (typeof REFERENCED_KINDS)[number];

/** Returns the resource type of a kind, in its preferred version. */
export function typeOfKind(kind: Kind): ResourceType {
  const { group, apiVersions, plural } = KINDS.get(kind)!;
  return { group, version: apiVersions[0]!.split('/').at(-1)!, plural };
}

/** Kinds that the gateway follows: all but those that are read on demand, and Proxies, which it writes. */
export const FOLLOWED_KINDS: readonly KindInfo[] = [...KINDS.values()].filter(
  ({ kind }) => kind !== 'Secret' && kind !== 'ConfigMap' && kind !== 'Proxy',
);
