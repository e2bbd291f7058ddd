import { deserialize } from 'node:v8';
import type { ProxyRejection, Secrets, Steps } from '@edge-gateway/core';
import {
  applyReceived,
  createStateDecoder as createResourceDecoder,
  type ApplyState,
} from '@edge-gateway/xds/resources';
import type { StateChange } from './messages.ts';

/** The state of a worker: its snapshot and secrets. */
export interface StateDecoder {
  readonly secrets: Secrets;
  /** Applies a change, in steps; unchanged parts of the state stay the same objects. Returns the parts that cannot be compiled. */
  apply(
    change: Uint8Array,
    apply: ApplyState,
  ): Steps<{ readonly revision: number; readonly rejections: readonly ProxyRejection[] }>;
}

/** Creates a decoder without a state. */
export function createStateDecoder(): StateDecoder {
  // The parent has the same version, and has checked everything.
  const decoder = createResourceDecoder({ isTrusted: true });
  const { secrets } = decoder;
  let isPending = false;
  return {
    secrets: {
      get: secrets.get,
      ...(secrets.files && { files: secrets.files }),
      ...(secrets.sds && { sds: secrets.sds }),
      get isPending() {
        return isPending;
      },
    },
    *apply(change, apply) {
      const { revision, types, lacksSecrets } = deserialize(change) as StateChange;
      isPending = lacksSecrets;
      for (const { type, changed, removed } of types) {
        for (const resource of changed) {
          decoder.receive({ type, ...resource });
          yield;
        }
        for (const name of removed) decoder.remove(type, name);
      }
      const { failed } = yield* applyReceived(decoder, apply);
      return { revision, rejections: failed };
    },
  };
}
