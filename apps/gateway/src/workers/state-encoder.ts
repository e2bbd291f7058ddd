import { serialize } from 'node:v8';
import {
  type ControlPlaneState,
  type Listener,
  type Secrets,
  type SecretValue,
  type Snapshot,
  type VirtualHost,
} from '@edge-gateway/core';
import type { Sds, SslFiles } from '@edge-gateway/core/schema';
import type { EncodedPart, StateChange } from './messages.ts';
import { referenceKey, type Reference } from './secret-reference.ts';

/** A state for workers: a snapshot with the secrets that it needs. */
export interface EncodedState {
  readonly revision: number;
  /** Returns the change from a state that a worker has, or from nothing, serialized. It is kept for other workers with the same state. */
  changeFrom(before: EncodedState | undefined): Uint8Array;
  /** Forgets the serialized changes. */
  release(): void;
}

/** What a worker serves. */
export interface StateSource {
  readonly snapshot: Snapshot;
  readonly resources: ControlPlaneState['resources'];
}

interface Part extends EncodedPart {
  readonly nested: readonly Part[];
  /** References to files and discovered secrets in it. */
  readonly references: readonly Reference[];
}

type Parts = ReadonlyMap<number, Part>;

/** Encodes states for the workers. Parts are encoded once; only those that a worker does not have are sent to it. */
export function createStateEncoder(secrets: Secrets): { encode(source: StateSource): EncodedState } {
  const known = new WeakMap<object, Part>();
  const partsOf = new WeakMap<EncodedState, Parts>();
  let ids = 0;
  let revisions = 0;

  function part(value: object, encode: (value: never) => Omit<Part, 'id'>): Part {
    let found = known.get(value);
    if (!found) {
      const encoded = encode(value as never);
      known.set(value, (found = { id: ++ids, ...encoded }));
    }
    return found;
  }

  const plain = (body: object): Omit<Part, 'id'> => ({ kind: 'value', body, nested: [], references: [] });
  const withReferences = (body: object): Omit<Part, 'id'> => ({ ...plain(body), references: referencesIn(body) });
  const plainParts = (values: readonly object[]): Part[] => values.map((each) => part(each, plain));

  /** Readers compare the members of options by identity. */
  function record(value: object): Omit<Part, 'id'> {
    const nested: Part[] = [];
    const body = Object.entries(value).map(([key, member]: [string, unknown]) => {
      if (typeof member !== 'object' || member === null) return [key, member, false] as const;
      const encoded = part(member, plain);
      nested.push(encoded);
      return [key, encoded.id, true] as const;
    });
    return { kind: 'record', body, nested, references: [] };
  }

  function virtualHost(host: VirtualHost): Omit<Part, 'id'> {
    const lists = {
      authConfigs: plainParts(host.authConfigs),
      rateLimitConfigs: plainParts(host.rateLimitConfigs),
      graphqlApis: plainParts(host.graphqlApis),
    };
    const nested = Object.values(lists).flat();
    const body = { ...host, ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, idsOf(list)])) };
    return { kind: 'virtualHost', body, nested, references: [] };
  }

  function listener(source: Listener): Omit<Part, 'id'> {
    const options = part(source.options, record);
    const httpOptions = part(source.httpOptions, plain);
    const routeOptions = part(source.routeOptions, plain);
    const certificates = source.sslConfigurations.map((each) => part(each, withReferences));
    const hosts = source.virtualHosts.map((each) => part(each, virtualHost));
    const body = {
      ...source,
      options: options.id,
      httpOptions: httpOptions.id,
      routeOptions: routeOptions.id,
      sslConfigurations: idsOf(certificates),
      virtualHosts: idsOf(hosts),
    };
    const nested = [options, httpOptions, routeOptions, ...certificates, ...hosts];
    return { kind: 'listener', body, nested, references: [] };
  }

  function secretParts(resources: StateSource['resources'], used: Parts): (readonly [string, Part])[] {
    const found: (readonly [string, Part])[] = [];
    for (const { kind, metadata, spec } of resources.values())
      if (kind === 'Secret') found.push([`${metadata.namespace}/${metadata.name}`, part(spec as object, plain)]);
    const references = new Map<string, SecretValue | undefined>();
    for (const { references: list } of used.values()) {
      for (const each of list) {
        const key = referenceKey(each);
        if (!references.has(key)) references.set(key, contentOf(each, secrets));
      }
    }
    for (const [key, value] of references) if (value) found.push([key, part(value, plain)]);
    return found;
  }

  return {
    encode({ snapshot, resources }) {
      const { proxy, version } = snapshot;
      const settings = part(snapshot.settings, record);
      const listeners = snapshot.listeners.map((each) => part(each, listener));
      const upstreams = snapshot.upstreams.map((each) => part(each, withReferences));
      const parts = new Map<number, Part>();
      for (const each of [settings, ...listeners, ...upstreams]) collect(each, parts);
      const secretList = secretParts(resources, parts);
      for (const [, each] of secretList) collect(each, parts);
      const revision = ++revisions;
      const rest: Omit<StateChange, 'parts' | 'removed'> = {
        revision,
        snapshot: {
          proxy,
          version,
          settings: settings.id,
          listeners: idsOf(listeners),
          upstreams: idsOf(upstreams),
        },
        secrets: secretList.map(([name, { id }]) => [name, id] as const),
      };
      const changes = new Map<EncodedState | undefined, Uint8Array>();
      const state: EncodedState = {
        revision,
        changeFrom(before) {
          let change = changes.get(before);
          if (!change) {
            const had = (before && partsOf.get(before)) ?? new Map<number, Part>();
            change = serialize({ ...rest, ...differenceOf(had, parts) } satisfies StateChange);
            changes.set(before, change);
          }
          return change;
        },
        release: () => changes.clear(),
      };
      partsOf.set(state, parts);
      return state;
    },
  };
}

const idsOf = (parts: readonly Part[]): readonly number[] => parts.map(({ id }) => id);

function collect(part: Part, into: Map<number, Part>): void {
  if (into.has(part.id)) return;
  for (const each of part.nested) collect(each, into);
  into.set(part.id, part);
}

function differenceOf(before: Parts, after: Parts): Pick<StateChange, 'parts' | 'removed'> {
  const parts: EncodedPart[] = [];
  for (const { id, kind, body } of after.values()) if (!before.has(id)) parts.push({ id, kind, body });
  const removed: number[] = [];
  for (const id of before.keys()) if (!after.has(id)) removed.push(id);
  return { parts, removed };
}

function contentOf(reference: Reference, secrets: Secrets): SecretValue | undefined {
  return 'files' in reference ? secrets.files?.(reference.files) : secrets.sds?.(reference.sds);
}

/** Returns the references to files and discovered secrets at any depth. */
function referencesIn(value: unknown): Reference[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    if (key === 'sslFiles' && member) return [{ files: member as SslFiles }];
    if (key === 'sds' && member) return [{ sds: member as Sds }];
    return referencesIn(member);
  });
}
