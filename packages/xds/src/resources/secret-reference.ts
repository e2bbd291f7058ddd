import type { ControlPlaneState, Secrets, SecretValue, Snapshot } from '@edge-gateway/core';
import type { Sds, SslFiles } from '@edge-gateway/core/schema';

/** A reference to certificate files or to a discovered secret. */
export type Reference = { readonly files: SslFiles } | { readonly sds: Sds };

/** Identifies the content of a reference; different from `<namespace>/<name>`, which identifies a secret. */
export function referenceKey(reference: Reference): string {
  return JSON.stringify(reference);
}

const known = new WeakMap<object, readonly Reference[]>();

/**
 * Returns the secrets of a proxy: those of the resources by `<namespace>/<name>`, and certificate files and discovered secrets by their reference.
 */
export function secretsOf(
  { listeners, upstreams }: Pick<Snapshot, 'listeners' | 'upstreams'>,
  resources: ControlPlaneState['resources'],
  secrets: Secrets,
): ReadonlyMap<string, SecretValue> {
  const found = new Map<string, SecretValue>();
  for (const { kind, metadata, spec } of resources.values())
    if (kind === 'Secret') found.set(`${metadata.namespace}/${metadata.name}`, spec as SecretValue);
  for (const part of [...tlsOf(listeners), ...upstreams]) {
    for (const reference of referencesOf(part)) {
      const key = referenceKey(reference);
      const value = found.has(key) ? undefined : contentOf(reference, secrets);
      if (value) found.set(key, value);
    }
  }
  return found;
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
