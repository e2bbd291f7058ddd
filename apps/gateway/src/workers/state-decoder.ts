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

type Body = Readonly<Record<string, unknown>>;

/** Creates a decoder without any parts. */
export function createStateDecoder(): StateDecoder {
  const parts = new Map<number, unknown>();
  let secrets: ReadonlyMap<string, SecretValue> = new Map();

  const one = (id: unknown): unknown => parts.get(id as number);
  const list = (ids: unknown): unknown[] => (ids as readonly number[]).map(one);

  function decode({ kind, body }: EncodedPart): unknown {
    const fields = body as Body;
    switch (kind) {
      case 'value':
        return body;
      case 'record':
        return Object.fromEntries(
          (body as [string, unknown, boolean][]).map(([key, value, isPart]) => [key, isPart ? one(value) : value]),
        );
      case 'virtualHost':
        return {
          ...fields,
          authConfigs: list(fields['authConfigs']),
          rateLimitConfigs: list(fields['rateLimitConfigs']),
          graphqlApis: list(fields['graphqlApis']),
        };
      case 'listener':
        return {
          ...fields,
          options: one(fields['options']),
          httpOptions: one(fields['httpOptions']),
          routeOptions: one(fields['routeOptions']),
          sslConfigurations: list(fields['sslConfigurations']),
          virtualHosts: list(fields['virtualHosts']),
        };
    }
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
