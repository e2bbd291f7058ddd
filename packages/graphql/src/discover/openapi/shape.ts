import { isEnumValue } from '../names.ts';
import { isRecord } from '../../document/json.ts';
import type { Document } from './document.ts';
import { listOf, textOf, type Json, type Placed } from './values.ts';

/** The shape of a value of a JSON schema, as far as GraphQL can express it. */
export type Shape =
  | { readonly kind: 'scalar'; readonly scalar: 'String' | 'Int' | 'Float' | 'Boolean' | 'JSON' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'list'; readonly items: Placed }
  | { readonly kind: 'choice'; readonly members: readonly Placed[] }
  | { readonly kind: 'object'; readonly properties: readonly Property[] };

export interface Property {
  readonly name: string;
  readonly schema: Placed;
  readonly required: boolean;
  readonly readOnly: boolean;
}

const JSON_SHAPE: Shape = { kind: 'scalar', scalar: 'JSON' };
const MAX_PARTS = 64;

/** Returns the shape of a schema without references. `allOf` is merged into one object. */
export function shapeOf(document: Document, { value, pointer }: Placed): Shape {
  const types = typesOf(value);
  if (types.length > 1) return JSON_SHAPE;
  const [type] = types;
  const properties = propertiesOf(document, { value, pointer }, { left: MAX_PARTS });
  if (properties.length > 0) return { kind: 'object', properties };
  const choices = [...listOf(value['oneOf']), ...listOf(value['anyOf'])];
  if (choices.length > 0) return choiceOf(document, choices, pointer);
  const wrapped = listOf(value['allOf']);
  if (wrapped.length === 1) return shapeOf(document, document.follow(wrapped[0], `${pointer}/allOf/0`));
  if (type === 'array' || isRecord(value['items'])) {
    return {
      kind: 'list',
      items: { value: isRecord(value['items']) ? value['items'] : {}, pointer: `${pointer}/items` },
    };
  }
  return scalarOf(value, type);
}

function typesOf({ type }: Json): string[] {
  const written = Array.isArray(type) ? type : [type];
  return written.filter((each): each is string => typeof each === 'string' && each !== 'null');
}

/** A union with one member besides `null` is that member. */
function choiceOf(document: Document, choices: readonly unknown[], pointer: string): Shape {
  const members = choices
    .map((choice, index) => ({ value: isRecord(choice) ? choice : {}, pointer: `${pointer}/oneOf/${index}` }))
    .filter(({ value }) => value['type'] !== 'null');
  if (members.length === 1) return shapeOf(document, document.follow(members[0]!.value, members[0]!.pointer));
  return members.length === 0 ? JSON_SHAPE : { kind: 'choice', members };
}

function scalarOf(value: Json, type: string | undefined): Shape {
  const values = listOf(value['enum']).filter((each) => each !== null);
  if (type === 'string' || (type === undefined && values.length > 0)) {
    const named = values.every((each): each is string => typeof each === 'string' && isEnumValue(each));
    if (values.length > 0 && named) return { kind: 'enum', values: [...new Set(values as string[])] };
    return type === 'string' || values.every((each) => typeof each === 'string')
      ? { kind: 'scalar', scalar: 'String' }
      : JSON_SHAPE;
  }
  if (type === 'boolean') return { kind: 'scalar', scalar: 'Boolean' };
  // Integers of 64 bits fit neither Int nor Float; JSON keeps all digits.
  if (type === 'integer') return textOf(value['format']) === 'int64' ? JSON_SHAPE : { kind: 'scalar', scalar: 'Int' };
  if (type === 'number') return { kind: 'scalar', scalar: 'Float' };
  return JSON_SHAPE;
}

/** Own properties and those of every part of `allOf`; later ones of the same name win. */
function propertiesOf(document: Document, { value, pointer }: Placed, parts: { left: number }): Property[] {
  const found = new Map<string, Property>();
  for (const [index, part] of listOf(value['allOf']).entries()) {
    if (--parts.left < 0) throw new Error(`${pointer} has more than ${MAX_PARTS} parts`);
    const placed = document.follow(part, `${pointer}/allOf/${index}`);
    for (const property of propertiesOf(document, placed, parts)) found.set(property.name, property);
  }
  const required = new Set(listOf(value['required']));
  for (const [name, property] of Object.entries(isRecord(value['properties']) ? value['properties'] : {})) {
    const schema = { value: isRecord(property) ? property : {}, pointer: `${pointer}/properties/${name}` };
    const readOnly = schema.value['readOnly'] === true;
    found.set(name, { name, schema, required: required.has(name), readOnly });
  }
  return [...found.values()].map((each) => (required.has(each.name) ? { ...each, required: true } : each));
}
