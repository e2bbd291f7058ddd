import {
  execute,
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
import type { ApiResult, Operation, OperationRequest, ResultError } from '../api/executable-api.ts';
import { isRecord } from '../api/json.ts';
import { documentError } from '../document/documents.ts';

/** An operation split into introspection and the rest. */
interface Split {
  readonly own: DocumentNode;
  /** The part for the server; `undefined` if nothing is left. */
  readonly rest: Operation | undefined;
}

const QUESTION = /^__(schema|type)$/;

/**
 * Creates a resolver of `__schema` and `__type` from the schema that clients may see; the rest is sent to the server: a server
 * would reveal fields that are not in the declared schema.
 */
export function createSchemaQuestions(
  schemaOf: () => GraphQLSchema,
  ask: (request: OperationRequest) => Promise<ApiResult>,
): (request: OperationRequest) => Promise<ApiResult> {
  const known = new WeakMap<Operation, Split | 'none'>();

  function splitOf(operation: Operation): Split | 'none' {
    let split = known.get(operation);
    if (!split) known.set(operation, (split = splitOperation(operation) ?? 'none'));
    return split;
  }

  return async (request) => {
    const split = splitOf(request.operation);
    if (split === 'none') return ask(request);
    const own = await execute({
      schema: schemaOf(),
      document: split.own,
      variableValues: request.variables,
      hideSuggestions: true,
    });
    if (own.errors) return { errors: own.errors.map(documentError) };
    if (!split.rest) return { data: own.data };
    const { errors, ...result } = await ask({ ...request, operation: split.rest });
    const data = isRecord(result.data) ? { ...result.data, ...own.data } : result.data;
    // The server received another document, so its line numbers are meaningless to the client.
    return { ...result, data, ...(errors && { errors: errors.map(withoutLocations) }) };
  };
}

function withoutLocations({ message, path, extensions }: ResultError): ResultError {
  return { message, ...(path && { path }), ...(extensions && { extensions }) };
}

/** Returns `undefined` for an operation without introspection. */
function splitOperation({ document, definition, text }: Operation): Split | undefined {
  if (definition.operation !== 'query' || !/__(?:schema|type)\b/.test(text)) return undefined;
  const fragments = new Map(
    document.definitions.flatMap((each) => (isFragment(each) ? [[each.name.value, each]] : [])),
  );
  const found = { questions: false, others: false };
  const own = questionsOf(definition.selectionSet, fragments, found);
  if (!found.questions) return undefined;
  const selectionSet = found.others ? withoutTypename(own) : own;
  return {
    own: { kind: Kind.DOCUMENT, definitions: [{ ...definition, selectionSet }, ...fragments.values()] },
    rest: found.others ? restOf(definition, fragments) : undefined,
  };
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns the root fields that begin with `__`, with fragments expanded. */
function questionsOf(
  set: SelectionSetNode,
  fragments: Fragments,
  found: { questions: boolean; others: boolean },
): SelectionSetNode {
  const selections = set.selections.flatMap((selection): SelectionNode[] => {
    if (selection.kind === Kind.FIELD) {
      const isQuestion = QUESTION.test(selection.name.value);
      if (isQuestion) found.questions = true;
      else if (selection.name.value !== '__typename') found.others = true;
      return isQuestion || selection.name.value === '__typename' ? [selection] : [];
    }
    const opened: Pick<InlineFragmentNode, 'typeCondition' | 'directives' | 'selectionSet'> =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : { ...fragments.get(selection.name.value)!, directives: selection.directives };
    const { typeCondition, directives } = opened;
    const selectionSet = questionsOf(opened.selectionSet, fragments, found);
    return selectionSet.selections.length === 0
      ? []
      : [{ kind: Kind.INLINE_FRAGMENT, typeCondition, directives, selectionSet }];
  });
  return { kind: Kind.SELECTION_SET, selections };
}

/** Returns the same without `__typename` of the operation, which the server returns. */
function withoutTypename(set: SelectionSetNode): SelectionSetNode {
  const selections = set.selections.flatMap((each): SelectionNode[] => {
    if (each.kind === Kind.FIELD) return each.name.value === '__typename' ? [] : [each];
    if (each.kind === Kind.FRAGMENT_SPREAD) return [each];
    const selectionSet = withoutTypename(each.selectionSet);
    return selectionSet.selections.length === 0 ? [] : [{ ...each, selectionSet }];
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

function isFragment(node: DocumentNode['definitions'][number]): node is FragmentDefinitionNode {
  return node.kind === Kind.FRAGMENT_DEFINITION;
}
