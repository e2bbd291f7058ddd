import { serialize } from 'node:v8';
import { type ControlPlaneState, type Secrets, type SecretValue, type Snapshot } from '@edge-gateway/core';
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
type Body = Readonly<Record<string, unknown>>;

/** Which members of an object are parts of their own, because readers compare them by identity. */
interface Shape {
  readonly one?: Readonly<Record<string, Shape>>;
  /** Lists of parts. */
  readonly many?: Readonly<Record<string, Shape>>;
  /** All members that are objects are parts of this shape. */
  readonly members?: Shape;
  readonly hasReferences?: true;
}

const VALUE: Shape = {};
const RECORD: Shape = { members: VALUE };
const WITH_REFERENCES: Shape = { hasReferences: true };
const VIRTUAL_HOST: Shape = { many: { authConfigs: VALUE, rateLimitConfigs: VALUE, graphqlApis: VALUE } };
const LISTENER_PART: Shape = {
  one: {
    tcp: { many: { sslConfigurations: WITH_REFERENCES } },
    get http() {
      return LISTENER;
    },
  },
};
const LISTENER: Shape = {
  one: { options: RECORD, httpOptions: VALUE, routeOptions: VALUE },
  many: { sslConfigurations: WITH_REFERENCES, virtualHosts: VIRTUAL_HOST, parts: LISTENER_PART },
};

/** Encodes states for the workers. Parts are encoded once; only those that a worker does not have are sent to it. */
export function createStateEncoder(secrets: Secrets): { encode(source: StateSource): EncodedState } {
  const known = new WeakMap<object, Part>();
  const partsOf = new WeakMap<EncodedState, Parts>();
  let ids = 0;
  let revisions = 0;

  function part(value: object, shape: Shape): Part {
    let found = known.get(value);
    if (!found) known.set(value, (found = { id: ++ids, ...encode(value as Body, shape) }));
    return found;
  }

  function encode(value: Body, { one = {}, many = {}, members, hasReferences }: Shape): Omit<Part, 'id'> {
    const body: Record<string, unknown> = { ...value };
    const nested: Part[] = [];
    const fields = members ? Object.keys(value).map((field) => [field, members] as const) : Object.entries(one);
    const singles = fields.filter(([field]) => typeof value[field] === 'object' && value[field] !== null);
    const lists = Object.entries(many).filter(([field]) => value[field] !== undefined);
    for (const [field, shape] of singles) {
      const encoded = part(value[field] as object, shape);
      nested.push(encoded);
      body[field] = encoded.id;
    }
    for (const [field, shape] of lists) {
      const encoded = (value[field] as readonly object[]).map((each) => part(each, shape));
      nested.push(...encoded);
      body[field] = idsOf(encoded);
    }
    return {
      // Others may be lists.
      body: singles.length + lists.length > 0 ? body : value,
      one: singles.map(([field]) => field),
      many: lists.map(([field]) => field),
      nested,
      references: hasReferences ? referencesIn(value) : [],
    };
  }

  function secretParts(resources: StateSource['resources'], used: Parts): (readonly [string, Part])[] {
    const found: (readonly [string, Part])[] = [];
    for (const { kind, metadata, spec } of resources.values())
      if (kind === 'Secret') found.push([`${metadata.namespace}/${metadata.name}`, part(spec as object, VALUE)]);
    const references = new Map<string, SecretValue | undefined>();
    for (const { references: list } of used.values()) {
      for (const each of list) {
        const key = referenceKey(each);
        if (!references.has(key)) references.set(key, contentOf(each, secrets));
      }
    }
    for (const [key, value] of references) if (value) found.push([key, part(value, VALUE)]);
    return found;
  }

  return {
    encode({ snapshot, resources }) {
      const { proxy, version } = snapshot;
      const settings = part(snapshot.settings, RECORD);
      const listeners = snapshot.listeners.map((each) => part(each, LISTENER));
      const upstreams = snapshot.upstreams.map((each) => part(each, WITH_REFERENCES));
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
  for (const { id, body, one, many } of after.values()) if (!before.has(id)) parts.push({ id, body, one, many });
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
