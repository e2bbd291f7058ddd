import {
  getNullableType,
  isListType,
  Kind,
  parse,
  validate,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { graphqlError } from '../errors/refusal.ts';
import type { Children, FieldPlan, Selection } from '../execute/field-plan.ts';
import { planOperation } from '../execute/plan.ts';
import { explainApi, type ExplainParts, type FieldSource, type UpstreamRequest } from './explained-api.ts';

/** A request to an upstream that an operation needs. */
export interface ExplainedCall {
  /** Where in the result, e.g. `productsForHome.reviews`. */
  readonly path: string;
  /** Name of the resolution, `remote` for a GraphQL server. */
  readonly resolver: string;
  readonly upstream: string;
  /** E.g. `GET /reviews/{$parent.id}`, with the arguments that the operation names filled in. */
  readonly request: string;
  /**
   * `once`, `once for each of productsForHome`, or `once for every 100 of productsForHome` if the service accepts many keys in one request;
   * equal requests of one operation are sent once in any case.
   */
  readonly times: string;
}

/**
 * Returns the requests to upstreams that an operation leads to, in the order of its fields. Sends nothing. Conditions with variables are
 * assumed to be met. Throws `ERR_GRAPHQL_DOCUMENT` if the document is not valid for the schema, `ERR_GRAPHQL_API` if the API declares no schema.
 */
export function explainOperation(query: string, parts: ExplainParts): ExplainedCall[] {
  const { schema, root } = explainApi(parts);
  const document = withoutOpenConditions(checked(query, schema));
  const definition = document.definitions.find(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  if (!definition) throw graphqlError('ERR_GRAPHQL_DOCUMENT', 'There is no operation.');
  const operation = { document, definition, text: query, name: definition.name?.value };
  const context = { schema, maxDepth: 0, values: 'any', resolverOf: () => undefined } as const;
  const { selection } = planOperation(operation, context, undefined);
  const walk = new Walk();
  walk.fields(selection, root, { path: [], lists: [] });
  return walk.calls;
}

/** Returns the schema that clients of an API see. Throws `ERR_GRAPHQL_API` if the API declares none. */
export function apiSchema(parts: ExplainParts): GraphQLSchema {
  return explainApi(parts).schema;
}

function checked(query: string, schema: GraphQLSchema): DocumentNode {
  try {
    const document = parse(query);
    const [problem] = validate(schema, document);
    if (problem) throw problem;
    return document;
  } catch (error) {
    throw graphqlError('ERR_GRAPHQL_DOCUMENT', (error as Error).message, error);
  }
}

function withoutOpenConditions(document: DocumentNode): DocumentNode {
  const isOpen = ({ name, arguments: given = [] }: DirectiveNode): boolean =>
    ['skip', 'include'].includes(name.value) && given.some(({ value }) => value.kind === Kind.VARIABLE);
  return visit(document, { Directive: (node) => (isOpen(node) ? null : undefined) });
}

interface Position {
  readonly path: readonly string[];
  /** Paths of the lists that contain the field. */
  readonly lists: readonly string[];
}

/** Collects the calls of the fields of a plan. */
class Walk {
  readonly calls: ExplainedCall[] = [];
  /** Calls that are listed, as text: several object types of one interface may need the same. */
  readonly #listed = new Set<string>();
  /** Paths at which children of a source were visited: types of one interface share them. */
  readonly #visited = new Map<FieldSource, Map<Children, Set<string>>>();

  fields(selection: Selection, source: FieldSource, { path, lists }: Position): void {
    for (const field of selection) {
      if (field.name.startsWith('__')) continue;
      const position = { path: [...path, field.key], lists };
      const { requests, value } = source(field.parentType.name, field.name);
      for (const request of requests) this.#add(request, field, position);
      this.#below(field, value, position);
    }
  }

  #below({ children, definition }: FieldPlan, source: FieldSource, { path, lists }: Position): void {
    const place = path.join('.');
    if (!this.#enter(source, children, place)) return;
    const position = { path, lists: isListType(getNullableType(definition.type)) ? [...lists, place] : lists };
    for (const selection of children.all()) this.fields(selection, source, position);
  }

  #enter(source: FieldSource, children: Children, place: string): boolean {
    const ofSource = this.#visited.get(source) ?? new Map<Children, Set<string>>();
    const places = ofSource.get(children) ?? new Set();
    if (places.has(place)) return false;
    this.#visited.set(source, ofSource.set(children, places.add(place)));
    return true;
  }

  #add({ resolver, upstream, request, shared, maxKeys }: UpstreamRequest, { nodes }: FieldPlan, at: Position): void {
    const filled = fill(request, nodes[0]!);
    const path = at.path.join('.');
    const key = `${shared ? '' : path} ${at.lists.join(' ')} ${upstream} ${filled}`;
    if (this.#listed.has(key)) return;
    this.#listed.add(key);
    const list = at.lists.at(-1);
    const each = maxKeys === undefined ? 'each' : `every ${maxKeys}`;
    const times = list === undefined ? 'once' : `once for ${each} of ${list}`;
    this.calls.push({ path, resolver, upstream, request: filled, times });
  }
}

/** Fills in arguments that the operation has as plain values. */
function fill(request: string, node: FieldNode): string {
  return request.replace(/\{\$args\.([^{}.[\]]+)\}/g, (whole, name: string) => {
    const value = node.arguments?.find((each) => each.name.value === name)?.value;
    return value && 'value' in value ? encodeURIComponent(String(value.value)) : whole;
  });
}
