import { sep } from 'node:path';
import type { FieldPath } from '../resource/problem.ts';
import { findKind, type KindInfo } from '../schema/kinds.ts';
import { isObject } from '../validate/resource-identity.ts';
import type { WrittenResource } from './source.ts';

/** Names of folders besides the plurals of kinds. */
const ARTIFACTS = 'artifacts';

/** Fields beside the spec in a file of this layout. */
const BESIDE_SPEC: ReadonlySet<string> = new Set(['metadata', 'status', 'namespacedStatuses']);

/**
 * Returns the documents of a file `<plural>/<namespace>/<name>.yaml` in their usual form: one without `apiVersion` and `kind` has those of its
 * folder, and the fields of its spec beside `metadata`. Namespace and name default to those of the path. Other documents and files are returned
 * as they are. `path` is relative to the directory of the source.
 *
 * @example
 * fromNamespaceLayout(parseDocuments('static: {…}', path), 'upstreams/gw-system/a.yaml'); // Upstream gw-system/a
 */
export function fromNamespaceLayout(written: readonly WrittenResource[], path: string): readonly WrittenResource[] {
  const [file, namespace, plural] = path.split(sep).toReversed();
  if (file === undefined || namespace === undefined || plural === undefined) return written;
  const info = kindOfFolder(plural);
  if (!info) return written;
  const name = file.replace(/\.[a-z]+$/, '');
  return written.map((document) => inUsualForm(document, info, { namespace, name }));
}

function kindOfFolder(folder: string): KindInfo | undefined {
  if (folder === ARTIFACTS) return findKind('ConfigMap');
  const info = findKind(folder);
  return info?.plural === folder ? info : undefined;
}

function inUsualForm(
  document: WrittenResource,
  { apiVersions: [apiVersion], body, kind }: KindInfo,
  defaults: { readonly namespace: string; readonly name: string },
): WrittenResource {
  const { value, locate } = document;
  if (!isObject(value) || 'apiVersion' in value || 'kind' in value) return document;
  const { metadata } = value;
  const fields = Object.entries(value).filter(([field]) => !BESIDE_SPEC.has(field));
  const content = Object.fromEntries(fields);
  const identity = metadata === undefined || isObject(metadata) ? { ...defaults, ...metadata } : metadata;
  return {
    ...document,
    value: { apiVersion, kind, metadata: identity, ...(body ? content : { spec: content }) },
    locate: (path, on) => locate(body ? path : withoutSpec(path), on),
  };
}

function withoutSpec(path: FieldPath): FieldPath {
  return path[0] === 'spec' ? path.slice(1) : path;
}
