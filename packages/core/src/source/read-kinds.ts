import type { Problem } from '../resource/problem.ts';
import type { Kind } from '../resource/resource.ts';
import { KINDS } from '../schema/kinds.ts';
import { isObject } from '../validate/resource-identity.ts';
import type { WrittenResource } from './source.ts';

/** Returns the kind of a document; `undefined` if it is missing or unknown. */
export function kindOfDocument({ value, issues }: WrittenResource): Kind | undefined {
  const kind = isObject(value) ? value['kind'] : issues.find((issue) => issue.kind !== undefined)?.kind;
  return typeof kind === 'string' && KINDS.has(kind as Kind) ? (kind as Kind) : undefined;
}

/** Returns a broken document without its identity: its problems must not become those of the resource that it may contain. */
export function withoutIdentity(document: WrittenResource): WrittenResource {
  return {
    ...document,
    issues: document.issues.map(({ kind: _kind, namespace: _namespace, name: _name, ...issue }) => issue as Problem),
  };
}

/** Returns the documents of some kinds, and those of no known kind. A broken document stays, because it may contain another one. */
export function documentsOf(
  written: readonly WrittenResource[],
  kinds: ReadonlySet<Kind> | undefined,
): readonly WrittenResource[] {
  if (!kinds) return written;
  return written.flatMap((document) => {
    const kind = kindOfDocument(document);
    if (kind === undefined || kinds.has(kind)) return [document];
    return document.value === undefined ? [withoutIdentity(document)] : [];
  });
}
