import {
  buildASTSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  printSchema,
  validateSchema,
  type DefinitionNode,
  type GraphQLSchema,
  type NameNode,
  type TypeDefinitionNode,
} from 'graphql';
import type { DeclaredSubschema } from './subschema.ts';

const ROOTS = { query: 'Query', mutation: 'Mutation' } as const;

/**
 * Joins schemas: types of the same name have the fields, values or members of all of them; of a field that several have, the
 * first definition is used. Subscriptions are those that an API supports. Throws an `Error` for types of the same name and different kinds.
 */
export function mergeSchemas(subschemas: readonly DeclaredSubschema[]): GraphQLSchema {
  const types = new Map<string, TypeDefinitionNode>();
  for (const { name, api } of subschemas) {
    for (const definition of definitionsOf(api)) {
      const before = types.get(definition.name.value);
      types.set(definition.name.value, before ? mergeTypes(before, definition, name) : definition);
    }
  }
  const document = { kind: Kind.DOCUMENT, definitions: [...types.values()] } as const;
  const schema = buildASTSchema(document, { assumeValidSDL: true });
  const [problem] = validateSchema(schema);
  if (problem) throw new Error(problem.message);
  return schema;
}

function definitionsOf({ schema, subscribe }: DeclaredSubschema['api']): TypeDefinitionNode[] {
  for (const [operation, expected] of Object.entries(ROOTS)) {
    const root = operation === 'query' ? schema.getQueryType() : schema.getMutationType();
    if (root && root.name !== expected) throw new Error(`the root type ${root.name} must be named ${expected}`);
  }
  const root = schema.getSubscriptionType()?.name;
  const hidden = subscribe && root === 'Subscription' ? undefined : root;
  const { definitions } = parse(printSchema(schema), { noLocation: true });
  return definitions
    .filter((each): each is TypeDefinitionNode => isType(each) && each.name.value !== hidden)
    .map((each) => withListSizes(each, schema));
}

/** Returns a printed type with `@listSize` of its fields, which is not printed. */
function withListSizes(definition: TypeDefinitionNode, schema: GraphQLSchema): TypeDefinitionNode {
  const type = schema.getType(definition.name.value);
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION)
    return definition;
  if (!isObjectType(type) && !isInterfaceType(type)) return definition;
  const declared = type.getFields();
  const fields = definition.fields?.map((field) => {
    const directives = declared[field.name.value]?.astNode?.directives?.filter(({ name }) => name.value === 'listSize');
    return directives && directives.length > 0 ? { ...field, directives } : field;
  });
  return { ...definition, fields };
}

function isType(definition: DefinitionNode): definition is TypeDefinitionNode {
  return definition.kind.endsWith('TypeDefinition');
}

function mergeTypes(before: TypeDefinitionNode, after: TypeDefinitionNode, owner: string): TypeDefinitionNode {
  if (before.kind !== after.kind)
    throw new Error(`${owner}: ${after.name.value} has different kinds in different APIs`);
  const merged: Record<string, unknown> = { ...before };
  for (const part of ['fields', 'values', 'interfaces', 'types'] as const) {
    const [first, second] = [listAt(before, part), listAt(after, part)];
    if (first.length + second.length > 0) merged[part] = mergeByName(first, second);
  }
  return merged as unknown as TypeDefinitionNode;
}

interface Named {
  readonly name: NameNode;
}

function listAt(node: TypeDefinitionNode, part: string): readonly Named[] {
  return (node as unknown as Readonly<Record<string, readonly Named[] | undefined>>)[part] ?? [];
}

function mergeByName(first: readonly Named[], second: readonly Named[]): Named[] {
  const known = new Set(first.map(({ name }) => name.value));
  return [...first, ...second.filter(({ name }) => !known.has(name.value))];
}
