import { sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gatewayNamespace } from '../../resource/gateway-namespace.ts';
import { identityOfKey, keyOf, type Kind, type Resource, type ResourceKey } from '../../resource/resource.ts';
import { KINDS } from '../../schema/kinds.ts';
import type { SourceChange, WrittenResource } from '../../source/source.ts';
import { isObject } from '../../validate/resource-identity.ts';
import type { ValidatedDocuments } from '../claim.ts';
import { UnusableContent } from './lines.ts';
import { savedIn, type AcceptedRecord, type SavedPlace, type SavedResource } from './records.ts';

/** A document, and its key if it is recognizable. */
interface Document {
  readonly key: ResourceKey | undefined;
  readonly written: WrittenResource;
}

/**
 * Returns the changes that repeat the saved states, one for each, and the one from there to what the source contains now. Resources that are not saved because they
 * contain secrets are taken from the source. Throws `UnusableContent` if the records cannot be read.
 */
export function restoringChanges(
  records: readonly unknown[],
  listed: SourceChange,
  { key, validated }: RestoreOptions = {},
): readonly SourceChange[] {
  const units = new Map<string, Map<ResourceKey, WrittenResource>>();
  const places = new Map<ResourceKey, string>();
  const current = documentsIn(listed);
  const changes: SourceChange[] = [];
  let touched = new Set<string>();

  function put(id: ResourceKey, written: WrittenResource): void {
    remove(id);
    let unit = units.get(written.unit);
    if (!unit) units.set(written.unit, (unit = new Map()));
    unit.set(id, written);
    places.set(id, written.unit);
    touched.add(written.unit);
  }

  function remove(id: ResourceKey): void {
    const unit = places.get(id);
    if (unit === undefined) return;
    units.get(unit)!.delete(id);
    places.delete(id);
    touched.add(unit);
  }

  function apply(record: AcceptedRecord): void {
    const saved = savedIn(record, key);
    if (!saved) throw new UnusableContent('was written with another key: --snapshot-key-file does not decrypt it');
    for (const each of saved) put(each.key, unchanged(each) ?? writtenFrom(each));
    for (const place of record.omitted ?? []) put(place.key, current.get(place.key) ?? rejectedAt(place));
    for (const place of record.rejected ?? []) put(place.key, rejectedAt(place));
    for (const id of record.removed ?? []) remove(id);
  }

  /** Returns the document in the source if it still has the saved content. */
  function unchanged(saved: SavedResource): WrittenResource | undefined {
    const document = current.get(saved.key);
    const resource = document && validated?.get(document)?.resource;
    return resource && document.unit === sourceKeyOf(saved) && hasContent(resource, saved) ? document : undefined;
  }

  function finish(): void {
    const ends = [...touched].map((unit) => [unit, [...(units.get(unit)?.values() ?? [])]] as const);
    if (ends.length > 0) changes.push(new Map(ends));
    touched = new Set();
  }

  for (const record of completeOnes(records)) {
    apply(record);
    if (record.keep) finish();
  }
  finish();
  const isUnreadable = unreadableFolders(listed);
  const gone = [...units.keys()].filter((unit) => !listed.has(unit) && !isUnreadable(unit));
  return [...changes, new Map([...gone.map((unit) => [unit, []] as const), ...listed])];
}

/** How accepted versions are restored. */
interface RestoreOptions {
  /** Decrypts resources with secret values. */
  readonly key?: Uint8Array | undefined;
  /** The results of validating what the source contains. */
  readonly validated?: ValidatedDocuments | undefined;
}

function sourceKeyOf({ origin, unit = origin.file }: SavedPlace): string {
  return unit;
}

function hasContent({ apiVersion, metadata, spec }: Resource, saved: SavedResource): boolean {
  return (
    apiVersion === saved.apiVersion &&
    isDeepStrictEqual(spec, saved.spec) &&
    isDeepStrictEqual(metadata, saved.metadata)
  );
}

/** Returns the records up to the end of the last complete state. */
function completeOnes(records: readonly unknown[]): readonly AcceptedRecord[] {
  const known = records as readonly AcceptedRecord[];
  const end = known.findLastIndex((record) => record.end);
  return known.slice(0, end + 1);
}

function documentsIn(listed: SourceChange): ReadonlyMap<ResourceKey, WrittenResource> {
  const found = new Map<ResourceKey, WrittenResource>();
  for (const documents of listed.values())
    for (const { key, written } of documents.map(documentOf)) if (key !== undefined) found.set(key, written);
  return found;
}

function documentOf(written: WrittenResource): Document {
  const { kind, metadata } = (isObject(written.value) ? written.value : {}) as { kind?: Kind; metadata?: unknown };
  const { name, namespace = gatewayNamespace() } = (isObject(metadata) ? metadata : {}) as Record<string, unknown>;
  if (typeof kind !== 'string' || typeof name !== 'string' || typeof namespace !== 'string')
    return { key: undefined, written };
  return { key: keyOf(kind, { name, namespace }), written };
}

function writtenFrom(saved: SavedResource): WrittenResource {
  const { key, apiVersion, metadata, spec, origin } = saved;
  const { kind } = identityOfKey(key);
  const content = KINDS.get(kind)?.body ? (spec as object) : { spec };
  const value = { apiVersion, kind, metadata, ...content };
  return { unit: sourceKeyOf(saved), origin, value, issues: [], locate: () => origin };
}

/** Returns a document that is rejected, so that what refers to the resource is not served. */
function rejectedAt({ key, origin }: SavedPlace): WrittenResource {
  const message = 'its content was not saved';
  const issue = { code: 'UNREADABLE', severity: 'error', origin, path: [], message, ...identityOfKey(key) } as const;
  return { unit: origin.file, origin, value: undefined, issues: [issue], locate: () => origin };
}

/** Returns a test whether a unit is below a folder that cannot be read now. */
function unreadableFolders(listed: SourceChange): (unit: string) => boolean {
  const folders = [...listed].flatMap(([unit, documents]) =>
    documents.some(({ issues }) => issues.some(({ code }) => code === 'UNREADABLE')) ? [unit + sep] : [],
  );
  return (unit) => folders.some((folder) => unit.startsWith(folder));
}
