import { serialize } from 'node:v8';
import {
  createStateEncoder as createResourceEncoder,
  differenceOf,
  NO_RESOURCES,
  type ProxyState,
  type ResourceSet,
} from '@edge-gateway/xds/resources';
import type { StateChange } from './messages.ts';

/** A state for workers, as resources. */
export interface EncodedState {
  readonly revision: number;
  /** Returns the change from a state that a worker has, or from nothing, serialized. It is kept for other workers with the same state. */
  changeFrom(before: EncodedState | undefined): Uint8Array;
  /** Forgets the serialized changes. */
  release(): void;
}

/** Encodes states for the workers. Only the resources that a worker does not have are sent to it. */
export function createStateEncoder(): { encode(state: ProxyState, lacksSecrets?: boolean): EncodedState } {
  const encoder = createResourceEncoder();
  const sets = new WeakMap<EncodedState, ResourceSet>();
  let revisions = 0;
  return {
    encode(source, lacksSecrets = false) {
      const set = encoder.encode(source);
      const revision = ++revisions;
      const changes = new Map<EncodedState | undefined, Uint8Array>();
      const state: EncodedState = {
        revision,
        changeFrom(before) {
          let change = changes.get(before);
          if (!change) {
            const types = changesOf(before && sets.get(before), set);
            change = serialize({ revision, types, lacksSecrets } satisfies StateChange);
            changes.set(before, change);
          }
          return change;
        },
        release: () => changes.clear(),
      };
      sets.set(state, set);
      return state;
    },
  };
}

function changesOf(before: ResourceSet | undefined, after: ResourceSet): StateChange['types'] {
  return [...after.types].flatMap(([type, resources]) => {
    const known = before?.types.get(type) ?? NO_RESOURCES;
    return known === resources ? [] : [{ type, ...differenceOf(known, resources) }];
  });
}
