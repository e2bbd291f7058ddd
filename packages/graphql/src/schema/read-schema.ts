import { parseJson } from '@edge-gateway/core';
import {
  GraphQLError,
  Kind,
  buildASTSchema,
  isScalarType,
  isSpecifiedScalarType,
  parse,
  validateSchema,
  valueFromASTUntyped,
  visit,
  type ASTNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  type TypeDefinitionNode,
  type TypeExtensionNode,
} from 'graphql';
import { LIST_SIZE } from '../document/list-size.ts';
import { validateSDL } from 'graphql/validation/validate.js';

/** Arguments of `@cacheControl`. */
export interface CacheHint {
  readonly maxAge?: number;
  readonly inheritMaxAge?: boolean;
  readonly scope?: 'public' | 'private';
}

/** A parsed schema definition, without its own directives. */
export interface LocalSchema {
  readonly schema: GraphQLSchema;
  /** Name in `@resolve` by `Type.field`. */
  readonly resolutions: ReadonlyMap<string, string>;
  /** By `Type.field` and by `Type`. */
  readonly cacheHints: ReadonlyMap<string, CacheHint>;
}

const OWN = new Set(['resolve', 'cacheControl']);

/** Reads a definition; `@resolve` and `@cacheControl` are removed. Throws a `GraphQLError` with a location. */
export function readSchema(schemaDefinition: string): LocalSchema {
  const resolutions = new Map<string, string>();
  const cacheHints = new Map<string, CacheHint>();
  const document = visit(parse(schemaDefinition), {
    enter(node) {
      if (node.kind === Kind.DIRECTIVE_DEFINITION) return OWN.has(node.name.value) ? null : undefined;
      if (!isTypeDefinition(node)) return undefined;
      const type = node.name.value;
      keepHint(type, node, cacheHints);
      if (!('fields' in node) || isInput(node)) return undefined;
      for (const field of node.fields ?? []) {
        const place = `${type}.${field.name.value}`;
        keepHint(place, field, cacheHints);
        const name = argumentsOf(field.directives, 'resolve')?.['name'];
        if (name === undefined) continue;
        if (typeof name !== 'string')
          throw new GraphQLError(`${place}: @resolve needs the name of a resolution`, { nodes: field });
        resolutions.set(place, name);
      }
      return undefined;
    },
  });
  return { schema: schemaOf(withListSize(withoutOwn(document))), resolutions, cacheHints };
}

type TypeNode = TypeDefinitionNode | TypeExtensionNode;
type HasDirectives = TypeNode | FieldDefinitionNode | InputValueDefinitionNode;

function isTypeDefinition(node: ASTNode): node is TypeNode {
  return node.kind.endsWith('TypeDefinition') || node.kind.endsWith('TypeExtension');
}

function isInput({ kind }: TypeNode): boolean {
  return kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || kind === Kind.INPUT_OBJECT_TYPE_EXTENSION;
}

function withoutOwn(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: (node) => (OWN.has(node.name.value) ? null : undefined) });
}

/** Adds the definition of `@listSize` to a schema that uses it without one. */
function withListSize(document: DocumentNode): DocumentNode {
  let isUsed = false;
  let isDefined = false;
  visit(document, {
    Directive: ({ name }) => void (isUsed ||= name.value === 'listSize'),
    DirectiveDefinition: ({ name }) => void (isDefined ||= name.value === 'listSize'),
  });
  if (!isUsed || isDefined) return document;
  return { ...document, definitions: [...document.definitions, ...parse(LIST_SIZE, { noLocation: true }).definitions] };
}

function schemaOf(document: DocumentNode): GraphQLSchema {
  const [unfit] = validateSDL(document);
  if (unfit) throw unfit;
  const schema = buildASTSchema(document, { assumeValidSDL: true });
  const [problem] = validateSchema(schema);
  if (problem) throw problem;
  for (const type of Object.values(schema.getTypeMap())) {
    if (isScalarType(type) && !isSpecifiedScalarType(type)) type.coerceInputLiteral = exactLiteral;
  }
  return schema;
}

/** Returns the value of a literal of a custom scalar, with all digits of its numbers. */
function exactLiteral(node: ConstValueNode): unknown {
  if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return parseJson(node.value);
  if (node.kind === Kind.LIST) return node.values.map(exactLiteral);
  if (node.kind !== Kind.OBJECT) return valueFromASTUntyped(node);
  return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, exactLiteral(value)]));
}

function keepHint(place: string, node: HasDirectives, hints: Map<string, CacheHint>): void {
  const written = argumentsOf(node.directives, 'cacheControl');
  if (!written) return;
  const { maxAge, inheritMaxAge, scope } = written;
  if (maxAge !== undefined && !(Number.isSafeInteger(maxAge) && (maxAge as number) >= 0)) {
    throw new GraphQLError(`${place}: maxAge of @cacheControl is a number of seconds`, { nodes: node });
  }
  const named = typeof scope === 'string' ? scope.toLowerCase() : 'unset';
  if (!['unset', 'public', 'private'].includes(named)) {
    throw new GraphQLError(`${place}: scope of @cacheControl is public or private`, { nodes: node });
  }
  hints.set(place, {
    ...(maxAge !== undefined && { maxAge: maxAge as number }),
    ...(inheritMaxAge === true && { inheritMaxAge }),
    ...(named !== 'unset' && { scope: named as 'public' | 'private' }),
  });
}

function argumentsOf(
  directives: readonly ConstDirectiveNode[] | undefined,
  name: string,
): Readonly<Record<string, unknown>> | undefined {
  const found = directives?.find((one) => one.name.value === name);
  return (
    found &&
    Object.fromEntries((found.arguments ?? []).map((each) => [each.name.value, valueFromASTUntyped(each.value)]))
  );
}
