import { createHash } from 'node:crypto';
import { redact, type Resource } from '@edge-gateway/core';
import type { ObjectMetadata } from '../watch/cluster-object.ts';

/** Returns the object of a Proxy, without secret values. */
export function proxyObject({ apiVersion, kind, metadata, spec }: Resource): object {
  const { name, namespace, labels } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, labels }, spec: redact(spec) };
}

/** Digests by spec, which never changes. */
const digests = new WeakMap<object, string>();

/** Returns a digest of the object of a Proxy. */
export function digestOf({ spec, metadata }: Resource): string {
  const known = digests.get(spec as object);
  if (known !== undefined) return known;
  const digest = createHash('sha1')
    .update(JSON.stringify([metadata, spec]))
    .digest('base64');
  digests.set(spec as object, digest);
  return digest;
}

/** Returns whether a field manager wrote a part of an object. */
export function isManaged({ managedFields }: ObjectMetadata, manager: string): boolean {
  return Array.isArray(managedFields) && managedFields.some((each: { manager?: unknown }) => each?.manager === manager);
}
