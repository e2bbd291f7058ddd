import type { ResourceRef } from '@edge-gateway/core';
import type { GraphQLApiSpec, Resolution } from '@edge-gateway/core/schema';
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  Kind,
  parse,
  validate,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { readSchema, type LocalSchema } from '../local/schema.ts';
import { graphqlError } from '../api/refusal.ts';
import { DEFAULT_MAX_KEYS } from '../resolvers/rest/batched.ts';
import { compileJoins } from '../join/joins.ts';
import { mergeSchemas } from '../join/merge-schemas.ts';

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
   * `once`, `once for each of productsForHome`, or `once for every 100 of productsForHome` where the service answers for many at a time;
   * equal requests of one operation are made once anyway.
   */
  readonly times: string;
}

/** What an API is explained with. */
export interface ExplainParts {
  readonly ref: ResourceRef;
  readonly spec: GraphQLApiSpec;
  /** The APIs that a stitched one joins. */
  findApi?(ref: ResourceRef): GraphQLApiSpec | undefined;
}

/**
 * The requests to upstreams that an operation leads to, in the order of its fields. Nothing is sent. Throws
 * `ERR_GRAPHQL_DOCUMENT` where the text does not fit the schema, `ERR_GRAPHQL_API` where the API has none that is written down.
 */
export function explainOperation(query: string, parts: ExplainParts): ExplainedCall[] {
  const explained = explainedApi(parts);
  const document = checked(query, explained.schema);
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (!operation) throw graphqlError('ERR_GRAPHQL_DOCUMENT', 'There is no operation.');
  const root = explained.schema.getRootType(operation.operation)!;
  const fragments = new Map(
    document.definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
    ),
  );
  const calls: ExplainedCall[] = [];
  walk(operation.selectionSet, root, { explained, fragments, calls, path: [], lists: [], asked: new Set() });
  return calls;
}

/** The schema that clients of an API see. Throws `ERR_GRAPHQL_API` where it is not written down. */
export function apiSchema(parts: ExplainParts): GraphQLSchema {
  return explainedApi(parts).schema;
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

/** What asks upstreams for a field; `undefined` where its value comes with its parent. */
interface CallMaker {
  readonly resolver: string;
  readonly upstream: string;
  readonly request: string;
  /** Requests with the same text here are one: a server is asked once for all fields of an operation. */
  readonly shared?: boolean;
  /** Keys of one request, where it asks for many at a time. */
  readonly maxKeys?: number;
}

interface ExplainedApi {
  readonly schema: GraphQLSchema;
  callsOf(type: string, field: string): readonly CallMaker[];
}

function explainedApi(parts: ExplainParts, depth = 0): ExplainedApi {
  const { executableSchema, stitchedSchema } = parts.spec;
  if (stitchedSchema && depth < 5) return stitched(parts, depth);
  const { schema, resolutions } = declaredSchema(parts);
  const { local, remote } = executableSchema?.executor ?? {};
  if (remote) {
    const upstream = remote.upstreamRef?.name ?? '';
    const maker: CallMaker = { resolver: 'remote', upstream, request: 'POST', shared: true };
    const roots = new Set([schema.getQueryType(), schema.getMutationType()].map((type) => type?.name));
    return { schema, callsOf: (type, field) => (roots.has(type) && !field.startsWith('__') ? [maker] : []) };
  }
  return {
    schema,
    callsOf(type, field) {
      const name = resolutions.get(`${type}.${field}`);
      const maker = name === undefined ? undefined : makerOf(name, local?.resolutions?.[name]);
      return maker ? [maker] : [];
    },
  };
}

function declaredSchema({ ref, spec }: ExplainParts): LocalSchema {
  const text = spec.executableSchema?.schemaDefinition ?? '';
  const api = `GraphQLApi ${ref.namespace}/${ref.name}`;
  if (text.trim() === '') throw graphqlError('ERR_GRAPHQL_API', `${api} has no schemaDefinition`);
  try {
    return readSchema(text);
  } catch (error) {
    throw graphqlError('ERR_GRAPHQL_API', `${api}: ${(error as Error).message}`, error);
  }
}

function makerOf(resolver: string, resolution: Resolution | undefined): CallMaker | undefined {
  const { restResolver: rest, grpcResolver: grpc } = resolution ?? {};
  if (grpc) {
    const { serviceName, methodName } = grpc.requestTransform ?? {};
    return { resolver, upstream: grpc.upstreamRef?.name ?? '', request: `${serviceName}/${methodName}` };
  }
  if (!rest) return undefined;
  const { headers = {}, queryParams = {}, body } = rest.request ?? {};
  const method = headers[':method'] ?? (body === undefined ? 'GET' : 'POST');
  const query = Object.entries(queryParams).map(([name, value]) => `${name}=${value}`);
  const path = [headers[':path'] ?? '/', ...query].reduce(
    (all, part) => `${all}${all.includes('?') ? '&' : '?'}${part}`,
  );
  const maker = { resolver, upstream: rest.upstreamRef?.name ?? '', request: `${method} ${path}` };
  return rest.batch ? { ...maker, maxKeys: rest.batch.maxKeys ?? DEFAULT_MAX_KEYS } : maker;
}

function stitched(parts: ExplainParts, depth: number): ExplainedApi {
  const inner = (parts.spec.stitchedSchema?.subschemas ?? []).map(({ name = '', namespace, typeMerge }) => {
    const ref = { name, namespace: namespace || parts.ref.namespace };
    const spec = parts.findApi?.(ref);
    if (!spec) throw graphqlError('ERR_GRAPHQL_API', `There is no GraphQLApi ${ref.namespace}.${ref.name}.`);
    const explained = explainedApi({ ...parts, ref, spec }, depth + 1);
    const api = { schema: explained.schema, introspection: true, execute: () => ({}) };
    return { name, api, explained, ...(typeMerge && { typeMerge }) };
  });
  const schema = mergeSchemas(inner);
  const joins = compileJoins(inner);
  return {
    schema,
    callsOf(type, field) {
      const owner = inner.find(({ api }) => fieldsOf(api.schema, type)[field]);
      const isRoot = type === 'Query' || type === 'Mutation';
      const join = isRoot ? undefined : (joins.get(type) ?? []).find((each) => each.gives(field));
      const joined = join ? inner[join.subschema]!.explained.callsOf('Query', join.field.name) : [];
      const first = inner.findIndex(({ api }) => fieldsOf(api.schema, type)[field]);
      const shared = joined.map((each) => ({ ...each, shared: true }));
      return [...(join?.subschema === first ? shared : []), ...(owner?.explained.callsOf(type, field) ?? [])];
    },
  };
}

function fieldsOf(schema: GraphQLSchema, type: string): Readonly<Record<string, unknown>> {
  const found = schema.getType(type);
  return found && 'getFields' in found ? found.getFields() : {};
}

interface Walk {
  readonly explained: ExplainedApi;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly calls: ExplainedCall[];
  readonly path: readonly string[];
  /** Paths of the lists that the present field is in. */
  readonly lists: readonly string[];
  /** Shared requests already told. */
  readonly asked: Set<string>;
}

function walk(set: SelectionSetNode, type: GraphQLCompositeType, at: Walk): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      walkField(selection, type, at);
      continue;
    }
    const node = selection.kind === Kind.INLINE_FRAGMENT ? selection : at.fragments.get(selection.name.value)!;
    const name = node.typeCondition?.name.value;
    const inner = name === undefined ? type : (at.explained.schema.getType(name) as GraphQLCompositeType);
    walk(node.selectionSet, inner, at);
  }
}

function walkField(node: FieldNode, type: GraphQLCompositeType, at: Walk): void {
  const { schema } = at.explained;
  const objects = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  const field = 'getFields' in type ? type.getFields()[node.name.value] : undefined;
  if (!field) return;
  const path = [...at.path, node.alias?.value ?? node.name.value];
  for (const object of objects) {
    for (const maker of at.explained.callsOf(object.name, node.name.value)) tell(maker, node, { ...at, path });
  }
  const inner = getNamedType(field.type);
  if (!node.selectionSet || !isCompositeType(inner)) return;
  const lists = isList(field.type) ? [...at.lists, path.join('.')] : at.lists;
  walk(node.selectionSet, inner, { ...at, path, lists });
}

function tell({ resolver, upstream, request, shared, maxKeys }: CallMaker, node: FieldNode, at: Walk): void {
  const filled = fill(request, node);
  const key = `${at.lists.join(' ')} ${upstream} ${filled}`;
  if (shared && at.asked.has(key)) return;
  at.asked.add(key);
  const list = at.lists.at(-1);
  const each = maxKeys === undefined ? 'each' : `every ${maxKeys}`;
  const times = list === undefined ? 'once' : `once for ${each} of ${list}`;
  at.calls.push({ path: at.path.join('.'), resolver, upstream, request: filled, times });
}

/** Fills in arguments that the operation has as plain values. */
function fill(request: string, node: FieldNode): string {
  return request.replace(/\{\$args\.([^{}.[\]]+)\}/g, (whole, name: string) => {
    const value = node.arguments?.find((each) => each.name.value === name)?.value;
    return value && 'value' in value ? encodeURIComponent(String(value.value)) : whole;
  });
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(type) || (isNonNullType(type) && isListType(type.ofType));
}
