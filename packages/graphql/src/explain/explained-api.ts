import { redact, type ResourceRef } from '@edge-gateway/core';
import type { GraphQLApiSpec, Resolution } from '@edge-gateway/core/schema';
import type { GraphQLSchema } from 'graphql';
import { graphqlError } from '../errors/refusal.ts';
import { compileJoins, joinFor, type Join } from '../join/joins.ts';
import { mergeSchemas } from '../join/merge-schemas.ts';
import { hasField, rootOwner } from '../join/subschema.ts';
import { readSchema, type LocalSchema } from '../schema/read-schema.ts';
import { DEFAULT_MAX_KEYS } from '../resolvers/rest/batched.ts';
import { declaredRequest } from '../resolvers/rest/rest-request.ts';

/** What an API is explained with. */
export interface ExplainParts {
  readonly ref: ResourceRef;
  readonly spec: GraphQLApiSpec;
  /** Returns an API that a stitched one joins. */
  findApi?(ref: ResourceRef): GraphQLApiSpec | undefined;
}

/** A request to an upstream for a field. */
export interface UpstreamRequest {
  readonly resolver: string;
  readonly upstream: string;
  readonly request: string;
  /** True if equal requests of one operation are sent once: a server is asked once for all fields of an operation. */
  readonly shared?: boolean;
  /** Maximum number of keys of one request, if it asks for many. */
  readonly maxKeys?: number;
}

/** How a field gets its value: by requests, or with its parent if there are none. */
export interface ExplainedField {
  readonly requests: readonly UpstreamRequest[];
  readonly value: FieldSource;
}

/** Returns how a field of an object type gets its value, for objects of one origin. */
export type FieldSource = (type: string, field: string) => ExplainedField;

export interface ExplainedApi {
  readonly schema: GraphQLSchema;
  readonly root: FieldSource;
}

const MAX_DEPTH = 5;
const NONE: readonly UpstreamRequest[] = [];
const UNKNOWN: FieldSource = () => ({ requests: NONE, value: UNKNOWN });

/** Reads the schema and the resolvers that an API declares. Throws `ERR_GRAPHQL_API` if it declares no schema. */
export function explainApi(parts: ExplainParts, depth = 0): ExplainedApi {
  const { executableSchema, stitchedSchema } = parts.spec;
  if (stitchedSchema && depth < MAX_DEPTH) return stitchedApi(parts, depth);
  const { schema, resolutions } = declaredSchema(parts);
  const { local, remote } = executableSchema?.executor ?? {};
  if (remote) return { schema, root: remoteSource(schema, remote.upstreamRef?.name ?? '') };
  const source: FieldSource = (type, field) => {
    const name = resolutions.get(`${type}.${field}`);
    const request = name === undefined ? undefined : requestOf(name, local?.resolutions?.[name]);
    return { requests: request ? [request] : NONE, value: source };
  };
  return { schema, root: source };
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

/** One request brings the values of all fields of an operation. */
function remoteSource(schema: GraphQLSchema, upstream: string): FieldSource {
  const request: UpstreamRequest = { resolver: 'remote', upstream, request: 'POST', shared: true };
  const roots = new Set([schema.getQueryType(), schema.getMutationType()].map((type) => type?.name));
  const value: FieldSource = () => ({ requests: NONE, value });
  return (type) => ({ requests: roots.has(type) ? [request] : NONE, value });
}

function requestOf(resolver: string, resolution: Resolution | undefined): UpstreamRequest | undefined {
  const { restResolver: rest, grpcResolver: grpc } = resolution ?? {};
  if (grpc) {
    const { serviceName, methodName } = grpc.requestTransform ?? {};
    return { resolver, upstream: grpc.upstreamRef?.name ?? '', request: `${serviceName}/${methodName}` };
  }
  if (!rest) return undefined;
  const request = { resolver, upstream: rest.upstreamRef?.name ?? '', request: declaredRequest(redact(rest)) };
  return rest.batch ? { ...request, maxKeys: rest.batch.maxKeys ?? DEFAULT_MAX_KEYS } : request;
}

function stitchedApi(parts: ExplainParts, depth: number): ExplainedApi {
  const subschemas = (parts.spec.stitchedSchema?.subschemas ?? []).map(({ name = '', namespace, typeMerge }) => {
    const ref = { name, namespace: namespace || parts.ref.namespace };
    const spec = parts.findApi?.(ref);
    if (!spec) throw graphqlError('ERR_GRAPHQL_API', `There is no GraphQLApi ${ref.namespace}.${ref.name}.`);
    return { name, api: explainApi({ ...parts, ref, spec }, depth + 1), typeMerge };
  });
  const joins = compileJoins(subschemas);

  const sources = subschemas.map(() => new Map<FieldSource, FieldSource>());

  /** Returns the source of objects of one subschema: always the same object for the same source there. */
  function from(origin: number, source: FieldSource): FieldSource {
    const known = sources[origin]!.get(source);
    if (known) return known;
    const made: FieldSource = (type, field) => {
      if (hasField(subschemas[origin]!.api.schema, type, field)) return ownField(origin, source(type, field));
      const join = joinFor(joins, { type, field });
      return join ? joinedField(origin, join, { type, field }) : { requests: NONE, value: made };
    };
    sources[origin]!.set(source, made);
    return made;
  }

  function ownField(origin: number, { requests, value }: ExplainedField): ExplainedField {
    return { requests, value: from(origin, value) };
  }

  function joinedField(
    origin: number,
    join: Join,
    { type, field }: { readonly type: string; readonly field: string },
  ): ExplainedField {
    const { requests, value } = subschemas[join.subschema]!.api.root('Query', join.field.name);
    const own = ownField(join.subschema, value(type, field));
    const shared = [...keyRequests(origin, join, type), ...requests].map((each) => ({ ...each, shared: true }));
    return { requests: [...shared, ...own.requests], value: own.value };
  }

  /** Requests for keys that objects of this origin lack. */
  function keyRequests(origin: number, join: Join, type: string): readonly UpstreamRequest[] {
    const { schema } = subschemas[origin]!.api;
    return join.keys.flatMap((field) => {
      const other = hasField(schema, type, field) ? undefined : joinFor(joins, { type, field }, join);
      return other ? joinedField(origin, other, { type, field }).requests : [];
    });
  }

  return {
    schema: mergeSchemas(subschemas),
    root(type, field) {
      const owner = rootOwner(subschemas, type, field);
      if (owner < 0) return { requests: NONE, value: UNKNOWN };
      return ownField(owner, subschemas[owner]!.api.root(type, field));
    },
  };
}
