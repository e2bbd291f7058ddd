import { differingKeys } from '../../layered-map.ts';
import type { Metadata, Origin, Resource, ResourceKey } from '../../resource/resource.ts';
import type { StoredResource, StoreState } from '../../resource/stored.ts';
import { containsSecrets, LAST_APPLIED_ANNOTATION } from '../../security/redact.ts';
import { seal, unseal } from '../../security/seal.ts';

/** Resources in one record: a record is written at once. */
const BATCH = 100;
const PURPOSE = 'accepted resources';

type Stored = StoreState['stored'];

/** A resource without its content. */
export interface SavedPlace {
  readonly key: ResourceKey;
  readonly origin: Origin;
  /** The unit with its document. Default: the file of its origin. */
  readonly unit?: string;
}

/** A resource in the file. */
export interface SavedResource extends SavedPlace {
  readonly apiVersion: string;
  readonly metadata: Metadata;
  readonly spec: unknown;
}

/** A line of the file: a change of the state before. */
export interface AcceptedRecord {
  /** Added and changed resources. */
  readonly put?: readonly SavedResource[];
  /** The same for resources with secret values, encrypted. */
  readonly sealed?: string;
  /** Resources with secret values that are not saved, because there is no key. */
  readonly omitted?: readonly SavedPlace[];
  /** Resources that were rejected and have no good version: what refers to them is not served. */
  readonly rejected?: readonly SavedPlace[];
  readonly removed?: readonly ResourceKey[];
  /** True for the last record of a state. */
  readonly end?: true;
  /** True if last good versions depend on the state before; otherwise only on the one after it. */
  readonly keep?: true;
}

/** Returns the records from one state to the next. */
export function* recordsBetween(
  before: Stored,
  now: Stored,
  key: Uint8Array | undefined,
): Generator<AcceptedRecord, void> {
  let keys: ResourceKey[] = [];
  for (const each of differingKeys(before, now)) {
    const [old, next] = [before.get(each), now.get(each)];
    if (contentOf(old) === contentOf(next) && sourceKeyOf(old) === sourceKeyOf(next)) continue;
    keys.push(each);
    if (keys.length < BATCH) continue;
    yield recordOf(keys, now, key);
    keys = [];
  }
  if (keys.length > 0) yield recordOf(keys, now, key);
}

/** Returns the accepted resource, `null` for a rejected one, and `undefined` if there is none. */
function contentOf(stored: StoredResource | undefined): Resource | null | undefined {
  if (!stored) return undefined;
  // Settings without their invalid fields were never accepted.
  return (stored.partial ? undefined : stored.resource) ?? null;
}

function recordOf(keys: readonly ResourceKey[], now: Stored, sealingKey: Uint8Array | undefined): AcceptedRecord {
  const put: SavedResource[] = [];
  const secret: SavedResource[] = [];
  const omitted: SavedPlace[] = [];
  const rejected: SavedPlace[] = [];
  const removed: ResourceKey[] = [];
  for (const key of keys) {
    const stored = now.get(key);
    const resource = contentOf(stored);
    if (resource === undefined) removed.push(key);
    else if (resource === null) {
      const origin = documentOf(stored!);
      // The valid part of Settings is that of their document.
      (stored!.partial ? omitted : rejected).push({ key, origin });
    } else {
      const unit = sourceKeyOf(stored);
      const saved = { ...savedOf(key, resource), ...(unit !== resource.origin.file && { unit }) };
      if (!hasSecret(resource, saved)) put.push(saved);
      else if (sealingKey) secret.push(saved);
      else omitted.push({ key, origin: documentOf(stored!) });
    }
  }
  const sealed = sealingKey && secret.length > 0 && { sealed: seal(sealingKey, PURPOSE, JSON.stringify(secret)) };
  const lists = Object.entries({ put, omitted, rejected, removed }).filter(([, list]) => list.length > 0);
  return { ...Object.fromEntries(lists), ...sealed };
}

/** Returns where the newest document is: the version in use may be one from another file. */
function documentOf({ resource, stale, issues }: StoredResource): Origin {
  const newest = stale || !resource ? issues.find(({ severity }) => severity === 'error')?.origin : undefined;
  return newest ?? resource?.origin ?? NOWHERE;
}

function sourceKeyOf(stored: StoredResource | undefined): string | undefined {
  return stored && documentOf(stored).file;
}

const NOWHERE: Origin = Object.freeze({ file: '', line: 1, column: 1 });

function savedOf(key: ResourceKey, { apiVersion, metadata, spec, origin }: Resource): SavedResource {
  const { [LAST_APPLIED_ANNOTATION]: copy, ...annotations } = metadata.annotations ?? {};
  return { key, apiVersion, metadata: copy === undefined ? metadata : { ...metadata, annotations }, spec, origin };
}

function hasSecret({ kind }: Resource, { metadata, spec }: SavedResource): boolean {
  return kind === 'Secret' || containsSecrets({ kind, metadata, spec });
}

/** Returns the resources of a record; `undefined` if the key does not decrypt them. */
export function savedIn({ put = [], sealed }: AcceptedRecord, key: Uint8Array | undefined) {
  if (sealed === undefined) return put;
  const text = key && unseal(key, PURPOSE, sealed);
  return text === undefined ? undefined : [...put, ...(JSON.parse(text) as readonly SavedResource[])];
}
