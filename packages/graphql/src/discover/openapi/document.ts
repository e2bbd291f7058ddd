import { isRecord } from '../../document/json.ts';
import { fromSwagger } from './swagger.ts';
import type { Json, Placed } from './values.ts';

/** An OpenAPI document with its local references. */
export interface Document {
  readonly root: Json;
  /**
   * Follows `$ref`s, up to 32 of them. Throws an `Error` for missing, external and circular references, and when too much of the document was
   * followed.
   */
  follow(value: unknown, pointer: string): Placed;
}

const MAX_STEPS = 32;
/** Keys of a reference. */
const MAX_KEYS = 64;
/** What is followed in one document, in values and keys: references to the same long list could otherwise take hours. */
const MAX_FOLLOWED = 500_000;

/** Wraps a parsed document; Swagger 2 is converted. Throws an `Error` for any other. */
export function openDocument(document: unknown): Document {
  if (!isRecord(document)) throw new Error('the document is not an object');
  const { swagger, openapi: version } = document;
  if (swagger === '2.0') {
    const root = fromSwagger(document, followIn(document));
    return { root, follow: followIn(root) };
  }
  if (typeof version !== 'string' || !/^3(\.|$)/.test(version))
    throw new Error('the document is neither OpenAPI 3 nor Swagger 2.0');
  return { root: document, follow: followIn(document) };
}

function followIn(root: Json): Document['follow'] {
  let followed = 0;
  return (value, pointer) => {
    let placed = { value, pointer };
    for (let step = 0; step < MAX_STEPS; step++) {
      if (++followed > MAX_FOLLOWED)
        throw new Error(`the document has more than ${MAX_FOLLOWED} references and values`);
      if (!isRecord(placed.value)) throw new Error(`${placed.pointer} is not an object`);
      const reference = placed.value['$ref'];
      if (typeof reference !== 'string') return { value: placed.value, pointer: placed.pointer };
      const keys = keysOf(reference);
      followed += keys.length;
      placed = { value: find(root, reference, keys), pointer: reference };
    }
    throw new Error(`${pointer} refers to itself`);
  };
}

function keysOf(reference: string): readonly string[] {
  if (!reference.startsWith('#')) throw new Error(`${reference} is in another document`);
  const [, ...keys] = reference.split('/', MAX_KEYS + 2);
  if (keys.length > MAX_KEYS) throw new Error(`a reference has more than ${MAX_KEYS} keys`);
  return keys;
}

function find(root: Json, reference: string, keys: readonly string[]): unknown {
  let value: unknown = root;
  for (const part of keys) {
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
