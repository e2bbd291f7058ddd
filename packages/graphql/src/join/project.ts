import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { keysNeeded, type Joins } from './joins.ts';
import { hasField } from './subschema.ts';

export interface Projection {
  readonly merged: GraphQLSchema;
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode | undefined>>;
  readonly joins: Joins;
  readonly keyPrefix: string;
}

/** Returns the part of a selection that one schema has, with `__typename` and the keys for the rest; fragments are expanded. */
export function project(set: SelectionSetNode, type: GraphQLCompositeType, projection: Projection): SelectionSetNode {
  const keys = new Map<string, Set<string>>();
  const selections: SelectionNode[] = [field('__typename')];
  for (const selection of set.selections) selections.push(...projectOne(selection, type, { projection, keys }));
  for (const [owner, names] of keys) {
    const fields = [...names].map((name) => field(name, `${projection.keyPrefix}${name}`));
    selections.push(...(owner === type.name ? fields : [on(owner, fields)]));
  }
  return { kind: Kind.SELECTION_SET, selections };
}

interface Work {
  readonly projection: Projection;
  readonly keys: Map<string, Set<string>>;
}

function projectOne(selection: SelectionNode, type: GraphQLCompositeType, work: Work): SelectionNode[] {
  if (selection.kind === Kind.FIELD) return projectField(selection, type, work);
  if (selection.kind === Kind.INLINE_FRAGMENT) return projectFragment(selection, type, work);
  const fragment = work.projection.fragments[selection.name.value]!;
  const { typeCondition, selectionSet } = fragment;
  const opened = { kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet, directives: selection.directives } as const;
  return projectFragment(opened, type, work);
}

function projectField(node: FieldNode, type: GraphQLCompositeType, work: Work): SelectionNode[] {
  const { projection } = work;
  if (node.name.value === '__typename') return [node];
  if (!hasField(projection.schema, type.name, node.name.value)) {
    for (const object of objectsOf(type, projection)) addKeys(object, node.name.value, work);
    return [];
  }
  if (!node.selectionSet) return [node];
  const fields = 'getFields' in type ? type.getFields() : {};
  const inner = getNamedType(fields[node.name.value]!.type);
  if (!isCompositeType(inner)) return [node];
  return [{ ...node, selectionSet: project(node.selectionSet, inner, projection) }];
}

function projectFragment(node: InlineFragmentNode, type: GraphQLCompositeType, work: Work): SelectionNode[] {
  const { projection } = work;
  const name = node.typeCondition?.name.value ?? type.name;
  const condition = projection.merged.getType(name) as GraphQLCompositeType;
  // Inside an object type, type conditions can only match this type: expanding them would multiply nested fragments.
  if (isObjectType(type)) return isOf(type, condition, projection) ? [inObject(type, node, work)] : [];
  if (projection.schema.getType(name))
    return [{ ...node, selectionSet: project(node.selectionSet, condition, projection) }];
  return objectsOf(condition, projection).map((object) => ({
    ...on(
      object,
      project(node.selectionSet, projection.merged.getType(object) as GraphQLCompositeType, projection).selections,
    ),
    directives: node.directives,
  }));
}

function isOf(type: GraphQLObjectType, condition: GraphQLCompositeType, { merged }: Projection): boolean {
  return type === condition || (isAbstractType(condition) && merged.isSubType(condition, type));
}

function inObject(type: GraphQLObjectType, node: InlineFragmentNode, { projection }: Work): InlineFragmentNode {
  const { selections } = project(node.selectionSet, type, projection);
  return { ...on(type.name, selections), directives: node.directives };
}

/** Returns the names of the possible object types that the schema has. */
function objectsOf(type: GraphQLCompositeType, { merged, schema }: Projection): string[] {
  const objects = isAbstractType(type) ? merged.getPossibleTypes(type) : [type];
  return objects.map(({ name }) => name).filter((name) => isObjectType(schema.getType(name)));
}

function addKeys(type: string, name: string, { projection, keys }: Work): void {
  const { joins, schema } = projection;
  const has = (key: string): boolean => hasField(schema, type, key);
  for (const join of joins.get(type) ?? []) {
    if (!join.gives(name)) continue;
    const needed = keysNeeded(type, join, { joins, has });
    const known = keys.get(type) ?? new Set();
    keys.set(type, known);
    for (const key of needed) known.add(key);
  }
}

function field(name: string, alias?: string): FieldNode {
  return {
    kind: Kind.FIELD,
    name: { kind: Kind.NAME, value: name },
    ...(alias !== undefined && { alias: { kind: Kind.NAME, value: alias } as const }),
  };
}

function on(type: string, selections: readonly SelectionNode[]): InlineFragmentNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type } },
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  };
}
