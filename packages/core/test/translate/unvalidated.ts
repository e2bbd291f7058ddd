import { parseAllDocuments } from 'yaml';
import { keyOf, type Kind, type Resource, type ResourceKey } from '../../src/resource/resource.ts';
import type { StoredResource } from '../../src/resource/stored.ts';
import { freezeDeep } from '../../src/translate/snapshot/content.ts';

type Written = Pick<Resource, 'apiVersion' | 'kind' | 'metadata' | 'spec'>;

/**
 * Returns resources as a store has them, without validation: also those with fields that are not supported yet. A resource of
 * `before` with the same text stays the same object.
 */
export function unvalidated(
  text: string,
  before?: ReadonlyMap<ResourceKey, StoredResource>,
): ReadonlyMap<ResourceKey, StoredResource> {
  const origin = { file: 'all.yaml', line: 1, column: 1 };
  return new Map(
    parseAllDocuments(text).map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      const { kind, metadata, ...rest } = document.toJSON() as Written;
      const key = keyOf(kind as Kind, metadata);
      const resource = freezeDeep({ ...rest, kind, metadata, origin });
      const known = before?.get(key);
      const isSame = known && JSON.stringify(known.resource) === JSON.stringify(resource);
      return [key, isSame ? known : { key, resource, stale: false, issues: [] }] as const;
    }),
  );
}
