import type { Kind, Logger } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import { typeName, type ClusterObject } from '../watch/cluster-object.ts';
import { completeOrAbsent } from '../watch/optional-type.ts';
import { createReflector, type Reflector, type ReflectorProblem, type ReflectorTiming } from '../watch/reflector.ts';
import { FOLLOWED_TYPES, REFERENCED_KINDS, type FollowedType } from './cluster-kinds.ts';
import { createReferencedObjects, type ReferencedObjects } from './referenced-objects.ts';
import { createReferenceIndex, referencesOf, type References } from './references.ts';
import { sourceKeyOf, writtenObject, type WrittenObject } from './written-object.ts';

/** The namespaces that are read at one time. */
export interface Scope {
  /** Namespaces that are watched each; `undefined` for one watch of all. */
  readonly watched: readonly string[] | undefined;
  /** Of a watch of all: the namespaces whose objects are used. */
  readonly used?: ReadonlySet<string>;
}

/** Follows all resources of one scope. */
export interface Generation {
  /** The objects, by unit; empty after `release`. */
  readonly objects: ReadonlyMap<string, WrittenObject>;
  /** Resolves when all objects were read. */
  start(): Promise<void>;
  /** Drops the objects, and calls back with changes from now on. */
  release(onObject: (unit: string, object: WrittenObject | undefined) => void): void;
  /** Reads Secrets and ConfigMaps that are referenced now. Resolves when they were read. */
  readReferenced(): Promise<void>;
  /** Returns whether the objects of a namespace are used. */
  isWatched(namespace: string): boolean;
  /** What cannot be followed, by resource type. */
  problems(): ReadonlyMap<string, ReflectorProblem>;
  close(): Promise<void>;
}

interface GenerationOptions {
  readonly client: ClusterClient;
  readonly scope: Scope;
  /** Kinds to read. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
}

interface Followed {
  readonly object: WrittenObject;
  readonly references: References | undefined;
}

/** Creates a generation, which makes no request before `start`. */
export function createGeneration({ client, scope, kinds, log, timing }: GenerationOptions): Generation {
  const index = createReferenceIndex();
  const objects = new Map<string, WrittenObject>();
  let onObject = (unit: string, object: WrittenObject | undefined): void => {
    if (object) objects.set(unit, object);
    else objects.delete(unit);
  };
  let isStale = false;
  const named = new Map<string, Reflector>();
  const closing = new AbortController();
  /** Starts the reflectors; each resolves when it is complete. */
  const starts: (() => Promise<void>)[] = [];

  const isUsed = (namespace: string | undefined): boolean =>
    scope.used === undefined || scope.used.has(namespace ?? '');

  function follow({ kind, type, isOptional }: FollowedType, namespace: string | undefined): Reflector {
    return createReflector<Followed>({
      client,
      type,
      namespace,
      isOptional,
      log,
      timing,
      select: (object) =>
        isUsed(object.metadata.namespace)
          ? { object: writtenObject(kind, object, type), references: referencesOf(object) }
          : undefined,
      onChange({ changed, deleted }) {
        for (const { object, references } of changed.values()) {
          isStale = index.set(object.unit, references) || isStale;
          onObject(object.unit, object);
        }
        for (const key of deleted) {
          const unit = sourceKeyOf(kind, key, type);
          isStale = index.set(unit, undefined) || isStale;
          onObject(unit, undefined);
        }
      },
    });
  }

  const isRead = (kind: Kind): boolean => kinds?.has(kind) ?? true;
  for (const followed of FOLLOWED_TYPES.filter(({ kind }) => isRead(kind))) {
    for (const namespace of scope.watched ?? [undefined]) {
      const reflector = follow(followed, namespace);
      named.set(`${typeName(followed.type)} ${namespace ?? ''}`, reflector);
      const { type, isOptional } = followed;
      starts.push(() => (isOptional ? completeOrAbsent(reflector, client, type, closing.signal) : reflector.start()));
    }
  }
  const reflectors = [...named.values()];
  const referenced: ReferencedObjects[] = REFERENCED_KINDS.filter(isRead).map((kind) =>
    createReferencedObjects({
      client,
      kind,
      namespaces: scope.watched,
      log,
      timing,
      isWanted: (key, labels) => isUsed(key.split('/', 1)[0]) && index.isWanted(kind, key, labels),
      named: () => [...index.named(kind)].filter((key) => isUsed(key.split('/', 1)[0])),
      onObject(key: string, object: ClusterObject | undefined) {
        onObject(sourceKeyOf(kind, key), object && writtenObject(kind, object));
      },
    }),
  );

  return {
    objects,
    isWatched: (namespace) => isUsed(namespace) && (scope.watched?.includes(namespace) ?? true),
    async start() {
      await Promise.all(starts.map((start) => start()));
      await Promise.all(referenced.map((reader) => reader.start()));
    },
    release(next) {
      objects.clear();
      onObject = next;
    },
    async readReferenced() {
      if (!isStale) return;
      isStale = false;
      await Promise.all(referenced.map((reader) => reader.refresh()));
    },
    problems: () =>
      new Map([...named].flatMap(([name, { problem }]) => (problem ? [[name.trim(), problem] as const] : []))),
    async close() {
      closing.abort();
      onObject = () => undefined;
      objects.clear();
      await Promise.all([...reflectors, ...referenced].map((one) => one.close()));
    },
  };
}

/** Returns a text that is the same for equal scopes. */
export function scopeKey({ watched, used }: Scope): string {
  return JSON.stringify([watched ?? null, used ? [...used].sort() : null]);
}
