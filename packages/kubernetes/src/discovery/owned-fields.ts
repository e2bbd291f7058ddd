/** The path of a field, e.g. `spec/kube/servicePort`; slashes in keys are written `~1`, and tildes `~0`. */
export type FieldKey = string;

/** The fields of an object by their owner. */
export interface OwnedFields {
  /** Those that were applied by the manager. */
  readonly own: ReadonlySet<FieldKey>;
  /** Those that others applied or wrote. */
  readonly foreign: ReadonlySet<FieldKey>;
}

type Json = Readonly<Record<string, unknown>>;

/** Returns the path of a key in the field at a path. */
export function childKey(path: FieldKey, key: string): FieldKey {
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1');
  return path ? `${path}/${escaped}` : escaped;
}

/** Reads `metadata.managedFields`. Fields of the status subresource are left out. */
export function ownedFields(managedFields: unknown, manager: string): OwnedFields {
  const own = new Set<FieldKey>();
  const foreign = new Set<FieldKey>();
  for (const entry of Array.isArray(managedFields) ? (managedFields as readonly Json[]) : []) {
    if (entry['subresource']) continue;
    const isOwn = entry['manager'] === manager && entry['operation'] === 'Apply';
    addLeaves(entry['fieldsV1'], '', isOwn ? own : foreign);
  }
  return { own, foreign };
}

/** Adds the deepest fields of a set. `f:` begins the key of a field; elements of lists belong to their list. */
function addLeaves(fields: unknown, path: FieldKey, found: Set<FieldKey>): void {
  const keys = typeof fields === 'object' && fields !== null ? Object.keys(fields).filter((key) => key !== '.') : [];
  const named = keys.filter((key) => key.startsWith('f:'));
  if (named.length === 0) {
    if (path) found.add(path);
    return;
  }
  for (const key of named) addLeaves((fields as Json)[key], childKey(path, key.slice(2)), found);
}

/** Returns fields with all those around them: whether one has a part in a set is then one look, however large the set is. */
export function withParents(keys: ReadonlySet<FieldKey>): ReadonlySet<FieldKey> {
  const all = new Set<FieldKey>();
  for (const key of keys) {
    for (let end = key.length; end > 0 && !all.has(key.slice(0, end)); end = key.lastIndexOf('/', end - 1))
      all.add(key.slice(0, end));
  }
  return all;
}

/** Returns the deepest fields of a value with their values; lists, and objects without keys, are fields. */
export function leavesOf(value: Json, path: FieldKey = ''): Map<FieldKey, unknown> {
  const found = new Map<FieldKey, unknown>();
  for (const [key, child] of Object.entries(value)) {
    const at = childKey(path, key);
    if (isBranch(child)) for (const leaf of leavesOf(child, at)) found.set(...leaf);
    else if (child !== undefined) found.set(at, child);
  }
  return found;
}

/** Returns a copy without the fields for which `isLeftOut` returns true, and without objects that are empty then. */
export function withoutFields(value: Json, isLeftOut: (key: FieldKey) => boolean, path: FieldKey = ''): Json {
  const kept: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    const at = childKey(path, key);
    if (isBranch(child)) {
      const rest = withoutFields(child, isLeftOut, at);
      if (Object.keys(rest).length > 0) kept[key] = rest;
    } else if (child !== undefined && !isLeftOut(at)) kept[key] = child;
  }
  return kept;
}

function isBranch(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}
