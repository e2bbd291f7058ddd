import {
  getNamedType,
  isCompositeType,
  Kind,
  print,
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import type { Operation } from '../api/executable-api.ts';
import type { Joins } from './joins.ts';
import { project } from './project.ts';
import type { Subschema } from './subschema.ts';

export interface ProjectionParts {
  readonly subschemas: readonly Subschema[];
  readonly schema: GraphQLSchema;
  readonly joins: Joins;
}

/** Gives the projections of an operation, kept for as long as the operation is. */
export function createProjections(parts: ProjectionParts): (operation: Operation) => Projections {
  const kept = new WeakMap<Operation, Projections>();
  return (operation) => {
    const known = kept.get(operation);
    if (known) return known;
    const made = new Projections(parts, operation.text);
    if (made.lasting) kept.set(operation, made);
    return made;
  };
}

/** A field of the client, and what one API is asked for it. */
interface Projected {
  readonly nodes: readonly FieldNode[];
  readonly node: FieldNode;
}

/** A field as the client wrote it, and as it is asked for. */
interface Named {
  readonly written: FieldNode;
  readonly asked: FieldNode;
}

/** What the fields of one operation ask each API for. */
export class Projections {
  /** Whether they are the same for every request: without directives the same fields are selected every time. */
  readonly lasting: boolean;
  /** Of the names under which key fields are asked for: the client cannot have written one. */
  readonly keyPrefix: string;
  readonly #parts: ProjectionParts;
  readonly #keys = new Map<string, FieldNode>();
  /** By API and type, then by the first node of the field. */
  readonly #known = new Map<string, WeakMap<FieldNode, Projected[]>>();
  /** By API and key of the result. */
  readonly #named = new Map<string, Named[]>();

  constructor(parts: ProjectionParts, text: string) {
    this.#parts = parts;
    this.lasting = !text.includes('@');
    this.keyPrefix = unusedPrefix(text);
  }

  /** A key field under a name of its own; for the same field always the same object. */
  key(field: string): FieldNode {
    const known = this.#keys.get(field);
    if (known) return known;
    const alias = { kind: Kind.NAME, value: `${this.keyPrefix}${field}` } as const;
    const node: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: field }, alias };
    this.#keys.set(field, node);
    return node;
  }

  /** A field with what of the selection under it one API can answer; for the same field always the same object. */
  of(info: GraphQLResolveInfo, owner: number): FieldNode {
    const { fieldNodes } = info;
    const [first] = fieldNodes as readonly [FieldNode];
    const place = `${owner} ${info.parentType.name}`;
    const byNode = this.#known.get(place) ?? new WeakMap<FieldNode, Projected[]>();
    this.#known.set(place, byNode);
    const known = byNode.get(first) ?? [];
    byNode.set(first, known);
    const same = known.find(({ nodes }) => isSameList(nodes, fieldNodes));
    if (same) return same.node;
    const node = { ...first, ...this.#innerSet(info, owner) };
    known.push({ nodes: fieldNodes, node });
    return node;
  }

  /**
   * The same, under a name that no other field of the API has in this operation: fields of the same object that the client
   * selects in several places are asked for together.
   */
  named(info: GraphQLResolveInfo, owner: number): FieldNode {
    const written = this.of(info, owner);
    const key = keyOf(written);
    const others = this.#named.get(`${owner} ${key}`);
    if (!others) {
      this.#named.set(`${owner} ${key}`, [{ written, asked: written }]);
      return written;
    }
    const known = others.find((each) => each.written === written) ?? others.find((each) => isSame(each, written));
    if (known) return known.asked;
    let number = others.length + 1;
    while (this.#named.has(`${owner} ${key}_${number}`)) number++;
    const alias = { kind: Kind.NAME, value: `${key}_${number}` } as const;
    const asked = { ...written, alias };
    others.push({ written, asked });
    this.#named.set(`${owner} ${alias.value}`, [{ written: asked, asked }]);
    return asked;
  }

  #innerSet(info: GraphQLResolveInfo, owner: number): Pick<FieldNode, 'selectionSet'> {
    const type = getNamedType(info.returnType);
    if (!isCompositeType(type)) return {};
    const { subschemas, schema, joins } = this.#parts;
    const { keyPrefix } = this;
    const { fragments } = info;
    const projection = { merged: schema, schema: subschemas[owner]!.api.schema, fragments, joins, keyPrefix };
    const selections = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
    return { selectionSet: project({ kind: Kind.SELECTION_SET, selections }, type, projection) };
  }
}

/** The name of a field in the result. */
export function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function unusedPrefix(text: string): string {
  let prefix = '_key_';
  for (let number = 2; text.includes(prefix); number++) prefix = `_key${number}_`;
  return prefix;
}

function isSame({ written }: Named, node: FieldNode): boolean {
  return print(written) === print(node);
}

function isSameList(a: readonly FieldNode[], b: readonly FieldNode[]): boolean {
  return a.length === b.length && a.every((node, index) => node === b[index]);
}
