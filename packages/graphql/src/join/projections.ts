import {
  getNamedType,
  isCompositeType,
  Kind,
  print,
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import type { Operation } from '../document/documents.ts';
import type { Joins } from './joins.ts';
import { project } from './project.ts';
import type { Subschema } from './subschema.ts';

export interface ProjectionParts {
  readonly subschemas: readonly Subschema[];
  readonly schema: GraphQLSchema;
  readonly joins: Joins;
}

/** Returns the projections of an operation, which are kept as long as the operation. */
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

/** A field of the client, and the field that one API is asked for. */
interface Projected {
  readonly nodes: readonly FieldNode[];
  readonly node: FieldNode;
}

/** A field of the client, and the same with its alias for an API. */
interface Named {
  readonly written: FieldNode;
  readonly asked: FieldNode;
}

/** The fields that each API is asked for, for one operation. */
export class Projections {
  /** True if they are the same for every request: without directives the same fields are selected every time. */
  readonly lasting: boolean;
  /** Prefix of the aliases of key fields, which the client's document does not contain. */
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

  /** Returns a key field with its own alias; always the same object for the same field. */
  key(field: string): FieldNode {
    const known = this.#keys.get(field);
    if (known) return known;
    const alias = { kind: Kind.NAME, value: `${this.keyPrefix}${field}` } as const;
    const node: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: field }, alias };
    this.#keys.set(field, node);
    return node;
  }

  /** Returns a field with the part of its selection that one API has; always the same object for the same field. */
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

  /** Returns the same with an alias that is unique for the API, so that one object is requested once for several places. */
  named(info: GraphQLResolveInfo, owner: number): FieldNode {
    const written = this.of(info, owner);
    const key = keyOf(written);
    const others = this.#named.get(`${owner} ${key}`);
    if (!others) {
      this.#named.set(`${owner} ${key}`, [{ written, asked: written }]);
      return written;
    }
    const known =
      others.find((each) => each.written === written) ?? others.find((each) => print(each.written) === print(written));
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

export function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function unusedPrefix(text: string): string {
  let prefix = '_key_';
  for (let number = 2; text.includes(prefix); number++) prefix = `_key${number}_`;
  return prefix;
}

function isSameList(a: readonly FieldNode[], b: readonly FieldNode[]): boolean {
  return a.length === b.length && a.every((node, index) => node === b[index]);
}
