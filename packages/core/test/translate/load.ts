import { parseDocuments } from '../../src/parse/parse.ts';
import type { ResourceKey } from '../../src/resource.ts';
import type { StoredResource, StoreState } from '../../src/store.ts';
import { validateWritten } from '../../src/validate/schema.ts';

const NOTHING: StoreState = { revision: 0, stored: new Map(), unfiled: [] };

/** Splits YAML into its documents, so that they can be handed over in any order. */
export function splitDocuments(text: string): string[] {
  return text.split(/^---\n/m).filter((document) => document.trim() !== '');
}

/** The state after a whole listing: what does not change keeps its object, what is refused its last good version. */
export function load(documents: readonly string[], before: StoreState = NOTHING): StoreState {
  const stored = new Map<ResourceKey, StoredResource>();
  for (const document of documents) {
    for (const written of parseDocuments(document, 'memory:1')) {
      const { key, resource, issues } = validateWritten(written);
      if (!key) throw new Error(`a document without a name: ${JSON.stringify(issues)}`);
      const old = before.stored.get(key);
      const used = resource ?? old?.resource;
      const now: StoredResource = Object.freeze({ key, resource: used, stale: !resource && !!used, issues });
      stored.set(key, old && sameText(old, now) ? old : now);
    }
  }
  return { revision: before.revision + 1, stored, unfiled: [] };
}

function sameText(a: StoredResource, b: StoredResource): boolean {
  const text = ({ resource, stale, issues }: StoredResource) =>
    JSON.stringify([resource && { ...resource, origin: 0 }, stale, issues.map((issue) => ({ ...issue, origin: 0 }))]);
  return text(a) === text(b);
}
