import { deserialize } from 'node:v8';
import { type Secrets, type SecretValue, type Snapshot } from '@edge-gateway/core';
import type { EncodedPart, StateChange } from './messages.ts';
import { referenceKey } from './secret-reference.ts';

/** The state of a worker: its snapshot and secrets. */
export interface StateDecoder {
  readonly secrets: Secrets;
  /** Applies a change and returns the snapshot; unchanged parts are the same objects as before. */
  apply(change: Uint8Array): { readonly revision: number; readonly snapshot: Snapshot };
}

/** Creates a decoder without any parts. */
export function createStateDecoder(): StateDecoder {
  const parts = new Map<number, unknown>();
  let secrets: ReadonlyMap<string, SecretValue> = new Map();

  const one = (id: unknown): unknown => parts.get(id as number);
  const list = (ids: unknown): unknown[] => (ids as readonly number[]).map(one);

  function decode({ body, one: singles, many: lists }: EncodedPart): unknown {
    const value = body as Record<string, unknown>;
    for (const field of singles) value[field] = one(value[field]);
    for (const field of lists) value[field] = list(value[field]);
    return value;
  }

  return {
    secrets: {
      get: ({ namespace, name }) => secrets.get(`${namespace}/${name}`),
      files: (files) => secrets.get(referenceKey({ files })),
      sds: (sds) => secrets.get(referenceKey({ sds })),
    },
    apply(change) {
      const next = deserialize(change) as StateChange;
      for (const part of next.parts) parts.set(part.id, decode(part));
      for (const id of next.removed) parts.delete(id);
      secrets = new Map(next.secrets.map(([name, id]) => [name, one(id) as SecretValue]));
      const { proxy, version, settings, listeners, upstreams } = next.snapshot;
      const snapshot = {
        proxy,
        version,
        settings: one(settings),
        listeners: list(listeners),
        upstreams: list(upstreams),
      } as Snapshot;
      return { revision: next.revision, snapshot };
    },
  };
}
