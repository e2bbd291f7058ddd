import {
  Kind,
  print,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { ApiResult, OperationRequest, ResultError } from '../execute/executable-api.ts';
import type { Operation } from '../document/documents.ts';
import { isRecord } from '../document/json.ts';
import { fragmentsOf } from '../document/overlaps.ts';
import { createEngine, type Engine } from '../execute/engine.ts';
import type { RunOptions } from '../execute/field-plan.ts';
import { readProperty, standardResolver } from '../execute/resolve.ts';
import type { ResultLimits } from '../execute/result-size.ts';

/** An operation split into introspection and the rest. */
interface Split {
  readonly own: Operation;
  /** The part for the server; `undefined` if nothing is left. */
  readonly rest: Operation | undefined;
}

const QUESTION = /^__(schema|type)$/;

/** Answers `__schema` and `__type` from the declared schema; a server would reveal hidden fields. The rest is forwarded. */
export function createSchemaQuestions(
  schemaOf: () => GraphQLSchema,
  ask: (request: OperationRequest) => Promise<ApiResult>,
  limits: ResultLimits,
): (request: OperationRequest) => Promise<ApiResult> {
  const known = new WeakMap<Operation, Split | 'none'>();
  const engines = new WeakMap<GraphQLSchema, Engine>();

  function engineOf(schema: GraphQLSchema): Engine {
    let engine = engines.get(schema);
    if (!engine) engines.set(schema, (engine = introspectionEngine(schema, limits)));
    return engine;
  }

  function splitOf(operation: Operation): Split | 'none' {
    let split = known.get(operation);
    if (!split) known.set(operation, (split = splitOperation(operation) ?? 'none'));
    return split;
  }

  return async (request) => {
    const split = splitOf(request.operation);
    if (split === 'none') return ask(request);
    const own = await engineOf(schemaOf()).execute({ ...request, operation: split.own }, optionsOf(request));
    if (own.errors) return own.data === undefined ? { errors: own.errors } : { data: null, errors: own.errors };
    if (!split.rest) return { data: own.data };
    const { errors, ...result } = await ask({ ...request, operation: split.rest });
    const data = isRecord(result.data) ? { ...result.data, ...(own.data as object) } : result.data;
    // The server received another document, so its line numbers are meaningless to the client.
    return { ...result, data, ...(errors && { errors: errors.map(withoutLocations) }) };
  };
}

function introspectionEngine(schema: GraphQLSchema, limits: ResultLimits): Engine {
  return createEngine({
    schema,
    limits,
    maxDepth: 0,
    values: 'any',
    resolverOf: (_type, { resolve }) => (resolve ? standardResolver(resolve) : readProperty),
  });
}

function optionsOf({ signal, facts }: OperationRequest): RunOptions {
  return { rootValue: undefined, context: undefined, signal, requestId: facts.requestId };
}

function withoutLocations({ message, path, extensions }: ResultError): ResultError {
  return { message, ...(path && { path }), ...(extensions && { extensions }) };
}

/** Returns `undefined` for an operation without introspection. */
function splitOperation({ document, definition, text }: Operation): Split | undefined {
  if (definition.operation !== 'query' || !/__(?:schema|type)\b/.test(text)) return undefined;
  const fragments = fragmentsOf(document);
  const names = new Set(Array.from(rootFields(definition.selectionSet, fragments), ({ name }) => name.value));
  if (![...names].some((name) => QUESTION.test(name))) return undefined;
  const hasOthers = [...names].some((name) => !QUESTION.test(name) && name !== '__typename');
  // The server returns `__typename`, so that it keeps its place among the other fields.
  const isOwn = ({ name: { value } }: FieldNode): boolean =>
    QUESTION.test(value) || (!hasOthers && value === '__typename');
  const selectionSet = onlyOwn(definition.selectionSet, fragments, isOwn);
  const own = { ...definition, selectionSet };
  return {
    own: {
      document: { kind: Kind.DOCUMENT, definitions: [own, ...fragments.values()] },
      definition: own,
      text,
      name: undefined,
    },
    rest: hasOthers ? restOf(definition, fragments) : undefined,
  };
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns the root fields of an operation, with fragments expanded. */
function* rootFields(set: SelectionSetNode, fragments: Fragments): Generator<FieldNode> {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    else yield* rootFields(opened(selection, fragments).selectionSet, fragments);
  }
}

/** Returns a fragment as an inline one. */
function opened(spread: Exclude<SelectionNode, FieldNode>, fragments: Fragments): InlineFragmentNode {
  if (spread.kind === Kind.INLINE_FRAGMENT) return spread;
  const { typeCondition, selectionSet } = fragments.get(spread.name.value)!;
  return { kind: Kind.INLINE_FRAGMENT, typeCondition, directives: spread.directives, selectionSet };
}

/** Returns a selection with only some root fields, with fragments expanded. */
function onlyOwn(set: SelectionSetNode, fragments: Fragments, isOwn: (field: FieldNode) => boolean): SelectionSetNode {
  const selections = set.selections.flatMap((selection): SelectionNode[] => {
    if (selection.kind === Kind.FIELD) return isOwn(selection) ? [selection] : [];
    const fragment = opened(selection, fragments);
    const selectionSet = onlyOwn(fragment.selectionSet, fragments, isOwn);
    return selectionSet.selections.length === 0 ? [] : [{ ...fragment, selectionSet }];
  });
  return { kind: Kind.SELECTION_SET, selections };
}

/** Returns the operation with `__typename` instead of each introspection field, so that the result keeps the order of its fields. */
function restOf(definition: OperationDefinitionNode, fragments: Fragments): Operation {
  const used = new Map<string, FragmentDefinitionNode>();
  const variables = new Set<string>();

  function reduced<T extends OperationDefinitionNode | FragmentDefinitionNode>(node: T): T {
    return visit(node, {
      VariableDefinition: () => false,
      Field: (field) => (QUESTION.test(field.name.value) ? placeholderOf(field) : undefined),
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread({ name }) {
        if (used.has(name.value)) return;
        const fragment = fragments.get(name.value)!;
        used.set(name.value, fragment);
        used.set(name.value, reduced(fragment));
      },
    });
  }

  const operation = reduced(definition);
  const variableDefinitions = operation.variableDefinitions?.filter(({ variable }) =>
    variables.has(variable.name.value),
  );
  const kept: OperationDefinitionNode = { ...operation, variableDefinitions };
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [kept, ...used.values()] };
  return { document, definition: kept, text: print(document), name: undefined };
}

function placeholderOf({ alias, name, directives }: FieldNode): FieldNode {
  return { kind: Kind.FIELD, alias: alias ?? name, name: { kind: Kind.NAME, value: '__typename' }, directives };
}
