/** The location of references in a block. */
export interface RefFields {
  /** Fields with a reference, or a list of them. */
  readonly names: ReadonlySet<string>;
  /** Fields with free-form content, which is skipped. */
  readonly skip?: ReadonlySet<string>;
}

/**
 * Returns a frozen value in which every reference has a namespace; `namespace` by default. Returns the value itself if
 * none is missing.
 */
export function fillRefs<T>(value: T, fields: RefFields, namespace: string): T {
  return mapRefs(value, fields, (ref) => (ref.namespace ? ref : Object.freeze({ name: ref.name ?? '', namespace })));
}

/** Calls back with every reference, its field and its path. */
export function eachRef(
  value: unknown,
  fields: RefFields,
  visit: (ref: WrittenRef, field: string, path: readonly (string | number)[]) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  const walk = (part: object, at: readonly (string | number)[]): void => {
    for (const [key, inner] of Object.entries(part)) {
      const path = [...at, Array.isArray(part) ? Number(key) : key];
      const isNamed = fields.names.has(key);
      if (isNamed && Array.isArray(inner)) {
        for (const [i, ref] of inner.entries()) if (isRef(ref)) visit(ref, key, [...path, i]);
      } else if (isNamed && isRef(inner)) visit(inner, key, path);
      else if (!fields.skip?.has(key) && typeof inner === 'object' && inner !== null) walk(inner, path);
    }
  };
  walk(value, []);
}

export interface WrittenRef {
  readonly name?: string;
  readonly namespace?: string;
}

type Change = (ref: WrittenRef, field: string) => WrittenRef;

function mapRefs<T>(value: T, fields: RefFields, change: Change): T {
  if (typeof value !== 'object' || value === null) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, part]): [string, unknown] => {
    let now: unknown = part;
    if (fields.names.has(key) && Array.isArray(part))
      now = sameOr(
        part,
        part.map((ref) => inPlace(ref, key, change)),
      );
    else if (fields.names.has(key) && isRef(part)) now = inPlace(part, key, change);
    else if (!fields.skip?.has(key)) now = mapRefs(part, fields, change);
    changed ||= now !== part;
    return [key, now];
  });
  if (!changed) return value;
  return Object.freeze(Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries)) as T;
}

function inPlace(value: unknown, field: string, change: Change): unknown {
  return isRef(value) ? change(value, field) : value;
}

function sameOr(before: readonly unknown[], now: readonly unknown[]): readonly unknown[] {
  return now.every((one, i) => one === before[i]) ? before : Object.freeze(now);
}

/** A user-defined name may equal the name of a field with references. */
function isRef(value: unknown): value is WrittenRef {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).every((key) => key === 'name' || key === 'namespace');
}
