import {
  gatewayNamespace,
  difference,
  keyOf,
  refersToSecrets,
  signingKeySecret,
  type ControlPlaneState,
  type ResourceRef,
  type Secrets,
  type SecretValue,
  type Snapshot,
  type VirtualHost,
} from '@edge-gateway/core';
import type { Sds, SslFiles } from '@edge-gateway/core/schema';

/** A reference to certificate files or to a discovered secret. */
export type Reference = { readonly files: SslFiles } | { readonly sds: Sds };

/** Identifies the content of a reference; different from `<namespace>/<name>`, which identifies a secret. */
export function referenceKey(reference: Reference): string {
  return JSON.stringify(reference);
}

const known = new WeakMap<object, readonly Reference[]>();

/** By the part of a snapshot that contains them. */
const knownRefs = new WeakMap<object, readonly ResourceRef[]>();
const NO_REFS: readonly ResourceRef[] = Object.freeze([]);

/**
 * Returns the secrets that a proxy needs: Secrets that its snapshot refers to by `<namespace>/<name>`, and certificate files and discovered secrets by their
 * reference. The Secret that signs cookies needs no reference.
 */
export function secretsOf(
  snapshot: Pick<Snapshot, 'listeners' | 'upstreams' | 'settings'>,
  resources: ControlPlaneState['resources'],
  secrets: Secrets,
): ReadonlyMap<string, SecretValue> {
  const found = new Map<string, SecretValue>();
  const add = (ref: ResourceRef): void => {
    const spec = resources.get(keyOf('Secret', ref))?.spec;
    if (spec !== undefined) found.set(`${ref.namespace}/${ref.name}`, spec as SecretValue);
  };
  add(signingKeySecret());
  for (const part of partsOf(snapshot)) for (const ref of refsOf(part)) add(ref);
  for (const part of [...tlsOf(snapshot.listeners), ...snapshot.upstreams]) {
    for (const reference of referencesOf(part)) {
      const key = referenceKey(reference);
      const value = found.has(key) ? undefined : contentOf(reference, secrets);
      if (value) found.set(key, value);
    }
  }
  return found;
}

/** Returns the parts of a snapshot that change independently. */
function* partsOf({ listeners, upstreams, settings }: Parameters<typeof secretsOf>[0]): Generator<object, void> {
  yield settings;
  yield* upstreams;
  for (const listener of listeners) yield* partsOfListener(listener);
}

function* partsOfListener({
  virtualHosts,
  parts = [],
  ...head
}: Snapshot['listeners'][number]): Generator<object, void> {
  for (const part of Object.values(head)) if (typeof part === 'object') yield part;
  yield* hostsWithRefs(virtualHosts, head.gateway);
  for (const { http, ...rest } of parts) {
    yield rest;
    if (http) yield* partsOfListener(http);
  }
}

/** The newest virtual hosts of each gateway, and those of them that refer to Secrets. */
const knownHosts = new WeakMap<
  object,
  { readonly all: readonly VirtualHost[]; readonly found: readonly VirtualHost[] }
>();

/** Returns the virtual hosts that refer to Secrets. Of those that were there at the last call for the same gateway, none is searched again. */
function hostsWithRefs(all: readonly VirtualHost[], gateway: object): readonly VirtualHost[] {
  const known = knownHosts.get(gateway) ?? { all: [], found: [] };
  if (known.all === all) return known.found;
  const { added, removed } = difference(all, known.all);
  const gone = new Set(removed);
  const found = [...known.found.filter((host) => !gone.has(host)), ...added.filter((host) => refsOf(host).length > 0)];
  knownHosts.set(gateway, { all, found });
  return found;
}

function refsOf(part: object): readonly ResourceRef[] {
  let found = knownRefs.get(part);
  if (!found) {
    const refs: ResourceRef[] = [];
    collect(part, false, refs);
    knownRefs.set(part, (found = refs.length > 0 ? refs : NO_REFS));
  }
  return found;
}

/** Finds the references to Secrets at any depth by the names of their fields. */
function collect(value: unknown, isReference: boolean, refs: ResourceRef[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, isReference, refs);
    return;
  }
  const { name, namespace } = value as { readonly name?: unknown; readonly namespace?: unknown };
  if (isReference && typeof name === 'string') {
    refs.push({ name, namespace: typeof namespace === 'string' && namespace !== '' ? namespace : gatewayNamespace() });
    return;
  }
  for (const [field, inner] of Object.entries(value)) collect(inner, refersToSecrets(field), refs);
}

function tlsOf(listeners: Snapshot['listeners']): object[] {
  return listeners.flatMap(({ sslConfigurations, httpOptions, parts = [] }) => [
    ...sslConfigurations,
    ...(httpOptions.dynamicForwardProxy ? [httpOptions.dynamicForwardProxy] : []),
    ...parts.flatMap(({ http, tcp }) => [...(http ? tlsOf([http]) : []), ...(tcp?.sslConfigurations ?? [])]),
  ]);
}

function referencesOf(part: object): readonly Reference[] {
  let found = known.get(part);
  if (!found) known.set(part, (found = referencesIn(part)));
  return found;
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

function contentOf(reference: Reference, secrets: Secrets): SecretValue | undefined {
  return 'files' in reference ? secrets.files?.(reference.files) : secrets.sds?.(reference.sds);
}
