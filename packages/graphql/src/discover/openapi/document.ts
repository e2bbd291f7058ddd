import { isRecord } from '../../document/json.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A value and its pointer, e.g. `#/components/schemas/Pet`. */
export interface Placed {
  readonly value: Json;
  readonly pointer: string;
}

/** An OpenAPI document with its local references. */
export interface Document {
  readonly root: Json;
  /** Follows `$ref`s, up to 32 of them. Throws an `Error` for missing, external and circular references. */
  follow(value: unknown, pointer: string): Placed;
}

const MAX_STEPS = 32;

/** Wraps a parsed document. Throws an `Error` unless it is OpenAPI 3. */
export function openDocument(document: unknown): Document {
  if (!isRecord(document)) throw new Error('the document is not an object');
  const version = document['openapi'];
  if (typeof document['swagger'] === 'string') throw new Error('Swagger 2 is not supported, only OpenAPI 3');
  if (typeof version !== 'string' || !/^3(\.|$)/.test(version)) throw new Error('the document is not OpenAPI 3');
  return {
    root: document,
    follow(value, pointer) {
      let placed = { value, pointer };
      for (let step = 0; step < MAX_STEPS; step++) {
        if (!isRecord(placed.value)) throw new Error(`${placed.pointer} is not an object`);
        const reference = placed.value['$ref'];
        if (typeof reference !== 'string') return { value: placed.value, pointer: placed.pointer };
        placed = { value: find(document, reference), pointer: reference };
      }
      throw new Error(`${pointer} refers to itself`);
    },
  };
}

function find(root: Json, reference: string): unknown {
  if (!reference.startsWith('#')) throw new Error(`${reference} is in another document`);
  let value: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const inside =
      Array.isArray(value) || isRecord(value) ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
    if (inside === undefined) throw new Error(`${reference} does not exist`);
    value = inside;
  }
  return value;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the objects of a list; none for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
