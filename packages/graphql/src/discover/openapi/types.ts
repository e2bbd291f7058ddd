import { isGraphQLName, toTypeName } from '../names.ts';
import type { ApiDraft, FieldText, Side } from '../api-draft.ts';
import type { Document } from './document.ts';
import { textOf, type Placed } from './values.ts';
import { shapeOf, type Property } from './shape.ts';

const SCALARS = new Set(['String', 'Int', 'Float', 'Boolean', 'JSON']);
const MAX_DEPTH = 400;

/** Returns the type of a schema as text, without `!`. `hint` names the type of an unnamed schema. */
export type TypeOf = (schema: Placed, hint: string, side: Side) => string;

interface Making {
  readonly side: Side;
  readonly depth: number;
}

/** Creates a converter of JSON schemas to types of a draft, once per side. Unsupported parts are reported, and are `JSON`. */
export function createTypes(document: Document, draft: ApiDraft): TypeOf {
  const names = { output: new Map<string, string>(), input: new Map<string, string>() };

  function make(schema: Placed, hint: string, making: Making): string {
    if (making.depth > MAX_DEPTH) throw new Error(`${schema.pointer} is nested too deep`);
    const placed = document.follow(schema.value, schema.pointer);
    const known = names[making.side].get(placed.pointer);
    if (known !== undefined) return known;
    const shape = shapeOf(document, placed);
    const name = ownName(placed.pointer) || hint;
    const next = { ...making, depth: making.depth + 1 };
    if (shape.kind === 'list') return `[${make(shape.items, `${name}Item`, next)}]`;
    if (shape.kind === 'enum') {
      if (!draft.takeFields(shape.values.length, placed.pointer)) return draft.json();
      return remember(placed, name, (made) => draft.enumeration(made, shape.values), next);
    }
    if (shape.kind === 'object') return object(placed, name, shape.properties, next);
    if (shape.kind === 'choice' && making.side === 'output') return choice(placed, shape.members, next);
    return shape.kind === 'scalar' && shape.scalar !== 'JSON' ? shape.scalar : draft.json();
  }

  function remember(placed: Placed, name: string, define: (name: string) => void, { side }: Making): string {
    const made = draft.typeName(name, side);
    names[side].set(placed.pointer, made);
    define(made);
    return made;
  }

  function object(placed: Placed, name: string, properties: readonly Property[], making: Making): string {
    const usable = properties.filter((each) => isUsable(each, making.side));
    if (usable.length === 0 || !draft.takeFields(usable.length, placed.pointer)) return draft.json();
    return remember(
      placed,
      name,
      (made) => {
        const fields = usable.map((each) => field(each, made, making));
        draft.type(making.side, made, fields, textOf(placed.value['description']));
      },
      making,
    );
  }

  function isUsable({ name, schema, readOnly }: Property, side: Side): boolean {
    if (side === 'input' && readOnly) return false;
    if (isGraphQLName(name)) return true;
    draft.skipped.push({ where: schema.pointer, reason: `'${name}' is not a valid GraphQL name` });
    return false;
  }

  function field({ name, schema, required }: Property, owner: string, making: Making): FieldText {
    const hint = `${owner.replace(/Input\d*$/, '')}${toTypeName(name)}`;
    const type = attempt(schema, () => make(schema, hint, making));
    const description = textOf(schema.value['description']);
    // Servers omit required properties in responses: only input is checked.
    if (making.side === 'input') return { name, type: required && mayBeRequired(type) ? `${type}!` : type };
    return { name, type, description };
  }

  /** An unsupported property is any JSON; its type is kept. */
  function attempt(schema: Placed, work: () => string): string {
    try {
      return work();
    } catch (error) {
      draft.skipped.push({ where: schema.pointer, reason: (error as Error).message });
      return draft.json();
    }
  }

  /** Responses do not name the member of a union, so a union is any JSON. */
  function choice(placed: Placed, members: readonly Placed[], making: Making): string {
    const [first, ...others] = members.map((member) => document.follow(member.value, member.pointer).pointer);
    if (others.every((other) => other === first)) return make(members[0]!, ownName(placed.pointer), making);
    return draft.json();
  }

  return (schema, hint, side) => make(schema, hint, { side, depth: 0 });
}

/** Input objects that require each other could never be written: only scalars and lists are required. */
function mayBeRequired(type: string): boolean {
  return type.startsWith('[') || SCALARS.has(type);
}

/** Returns the last part of a pointer into the components; empty for unnamed schemas. */
function ownName(pointer: string): string {
  const match = /^#\/components\/(?:schemas|responses|requestBodies|parameters)\/([^/]+)$/.exec(pointer);
  return match ? match[1]!.replaceAll('~1', '/').replaceAll('~0', '~') : '';
}
