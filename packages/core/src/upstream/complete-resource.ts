import type { Resource } from '../resource/resource.ts';
import type { StoredResource } from '../resource/stored.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import { withFunctions } from './service-functions.ts';

const known = new WeakMap<StoredResource, Resource>();

/** Returns the version of a resource in use, an Upstream with its discovered functions. The same object for the same state. */
export function completeResource(stored: StoredResource | undefined): Resource | undefined {
  const { resource, observed } = stored ?? {};
  if (!stored || resource?.kind !== 'Upstream' || !observed?.functions) return resource;
  let complete = known.get(stored);
  if (!complete) {
    const { spec, ...rest } = resource as Resource<UpstreamSpec>;
    complete = Object.freeze({ ...rest, spec: withFunctions(spec, observed.functions) });
    known.set(stored, complete);
  }
  return complete;
}
