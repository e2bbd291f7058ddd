import type { Facts } from '@edge-gateway/core';
import type { FieldNode, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import type { ApiResult, ExecutableApi, OperationRequest, ResultError } from '../execute/executable-api.ts';
import type { Operation } from '../document/documents.ts';
import { createEngine, type Engine, type Executed } from '../execute/engine.ts';
import { standardResolver } from '../execute/resolve.ts';
import type { Limits } from '../document/limits.ts';
import { CallBudget } from '../resolvers/calls.ts';
import { BatchPlans } from './batch-plan.ts';
import { createBatch, type AskSubschema } from './batch.ts';
import { joinedCaching } from './caching.ts';
import { compileJoins, joinFor, type Join, type Joins } from './joins.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { createProjections, keyOf, type Projections } from './projections.ts';
import { resultOf, subschemaErrorOf, SubschemaError } from './result.ts';
import { hasField, rootOwner, type Subschema } from './subschema.ts';
import { subscribeAt } from './subscribe.ts';

const NONE: readonly never[] = [];
/** Maximum number of errors without a place in one result. */
const MAX_ELSEWHERE = 20;

/**
 * Joins APIs into one, with the root fields of all of them. An object of one API is completed by others with
 * `typeMerge`, many objects in one request. `limits` apply to the requests of all of them together. A subscription goes to one API. Throws an `Error` if the APIs do not match.
 */
export function createStitchedApi(subschemas: readonly Subschema[], limits: Limits): ExecutableApi {
  if (subschemas.length === 0) throw new Error('stitchedSchema has no subschemas');
  const waiting = subschemas.filter(({ api }) => api.ready);
  let parts = waiting.length === 0 ? partsOf(subschemas, limits) : undefined;

  async function ready(facts: Facts): Promise<void> {
    await Promise.all(waiting.map(({ api }) => api.ready?.(facts)));
    const changed = parts?.schemas.some((schema, index) => schema !== subschemas[index]!.api.schema) ?? true;
    if (changed) parts = partsOf(subschemas, limits);
  }

  return {
    get schema() {
      return parts?.schema ?? subschemas[0]!.api.schema;
    },
    introspection: subschemas.every(({ api }) => api.introspection),
    ...(waiting.length > 0 && { ready }),
    async execute(request) {
      const budget = request.budget ?? new CallBudget(limits);
      const stitching = new Stitching(parts!, { ...request, budget });
      const result = resultOf(await stitching.execute(), stitching.elsewhere);
      return result.errors ? result : { ...result, ...joinedCaching(stitching.results) };
    },
    ...(subschemas.some(({ api }) => api.subscribe) && {
      subscribe: (request: OperationRequest) => subscribeAt(subschemas, request),
    }),
    async close() {
      await Promise.all(subschemas.map(({ api }) => api.close?.()));
    },
  };
}

function partsOf(subschemas: readonly Subschema[], limits: Limits): Parts {
  const merged = { subschemas, schema: mergeSchemas(subschemas), joins: compileJoins(subschemas) };
  return {
    ...merged,
    schemas: subschemas.map(({ api }) => api.schema),
    plans: new BatchPlans(),
    projectionsOf: createProjections(merged),
    engine: createEngine({
      schema: merged.schema,
      limits,
      values: 'any',
      maxDepth: 0,
      resolverOf: (_type, { resolve }) => (resolve ? standardResolver(resolve) : joinedField),
    }),
  };
}

/** Resolves a root field, or a field of an object of any API. */
const joinedField = standardResolver((source, _args, stitching, info) => {
  return (stitching as Stitching).resolve(source as object, info);
});

interface Parts {
  readonly subschemas: readonly Subschema[];
  readonly schemas: readonly GraphQLSchema[];
  readonly schema: GraphQLSchema;
  readonly joins: Joins;
  readonly plans: BatchPlans;
  readonly projectionsOf: (operation: Operation) => Projections;
  readonly engine: Engine;
}

/** One operation over several APIs. */
class Stitching {
  readonly #parts: Parts;
  readonly #request: OperationRequest;
  /** Index of the subschema that an object came from. */
  readonly #origins = new WeakMap<object, number>();
  readonly #batches = new Map<string, AskSubschema>();
  readonly results: ApiResult[] = [];
  /** Errors of the subschemas that made no value null. */
  readonly elsewhere: ResultError[] = [];
  readonly #projections: Projections;

  constructor(parts: Parts, request: OperationRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#projections = parts.projectionsOf(request.operation);
  }

  execute(): Executed | Promise<Executed> {
    const { signal, facts } = this.#request;
    const { keyPrefix } = this.#projections;
    return this.#parts.engine.execute(this.#request, {
      rootValue: this,
      context: this,
      signal,
      requestId: facts.requestId,
      errorOf: (error, at) => subschemaErrorOf(error, at, keyPrefix),
    });
  }

  resolve(source: object, info: GraphQLResolveInfo): unknown {
    if (source === this) return this.#root(info);
    const origin = this.#origins.get(source)!;
    const { subschemas } = this.#parts;
    const { name } = info.parentType;
    if (!hasField(subschemas[origin]!.api.schema, name, info.fieldName)) return this.#join(source, info);
    return this.#from(origin, own(source, String(info.path.key)));
  }

  async #root(info: GraphQLResolveInfo): Promise<unknown> {
    const { subschemas } = this.#parts;
    const { name } = info.parentType;
    const owner = rootOwner(subschemas, name, info.fieldName);
    const field = info.parentType.getFields()[info.fieldName]!;
    const nodes = info.fieldNodes[0]!.arguments ?? NONE;
    const selections = this.#projections.of(info, owner).selectionSet?.selections ?? NONE;
    const operation = info.operation.operation === 'mutation' ? 'mutation' : 'query';
    return this.#from(owner, await this.#batch(owner, operation)({ field, args: { nodes }, selections }));
  }

  /** Resolves a field that the API of the object does not have, by an API that completes the object by its key. */
  async #join(source: object, info: GraphQLResolveInfo): Promise<unknown> {
    const type = info.parentType.name;
    const join = joinFor(this.#parts.joins, { type, field: info.fieldName });
    if (!join) return null;
    const node = this.#projections.named(info, join.subschema);
    const completed = await this.#complete(source, join, { type, selections: [node], place: placeOf(info) });
    return completed && this.#from(join.subschema, own(completed, keyOf(node)));
  }

  /** Returns the object of another API; null if its key is unknown or the API has no such object. */
  async #complete(source: object, join: Join, part: JoinedPart): Promise<object | null> {
    const keys: Record<string, unknown> = {};
    for (const key of join.keys) {
      const value = await this.#key(source, key, { part, not: join });
      if (value === null || value === undefined) return null;
      if (value instanceof SubschemaError) throw value.at(key);
      keys[key] = value;
    }
    const asked = {
      field: join.field,
      args: { values: join.args(keys), place: part.place },
      selections: part.selections,
    };
    const value = await this.#batch(join.subschema, 'query')(asked);
    const [selection] = part.selections as readonly [FieldNode];
    if (value instanceof SubschemaError) throw value.at(keyOf(selection));
    if (value instanceof Error) throw value;
    return typeof value === 'object' ? value : null;
  }

  /** Returns a key field of an object, which came with the object or from a third API. */
  async #key(
    source: object,
    key: string,
    { part, not }: { readonly part: JoinedPart; readonly not: Join },
  ): Promise<unknown> {
    const name = `${this.#projections.keyPrefix}${key}`;
    if (Object.hasOwn(source, name)) return own(source, name);
    const join = joinFor(this.#parts.joins, { type: part.type, field: key }, not);
    if (!join) return undefined;
    const selections = [this.#projections.key(key)];
    const completed = await this.#complete(source, join, { ...part, selections });
    return completed && own(completed, name);
  }

  #batch(subschema: number, operation: 'query' | 'mutation'): AskSubschema {
    const key = `${subschema} ${operation}`;
    const known = this.#batches.get(key);
    if (known) return known;
    const { subschemas, plans } = this.#parts;
    const { keyPrefix, lasting } = this.#projections;
    const made = createBatch({
      subschema: subschemas[subschema]!,
      request: this.#request,
      wanted: { operation, definition: this.#request.operation.definition, prefix: keyPrefix, lasting },
      plans,
      onResult: (result) => void this.results.push(result),
      onElsewhere: (error) => void (this.elsewhere.length < MAX_ELSEWHERE && this.elsewhere.push(error)),
    });
    this.#batches.set(key, made);
    return made;
  }

  #from(subschema: number, value: unknown): unknown {
    if (Array.isArray(value)) for (const item of value) this.#from(subschema, item);
    else if (typeof value === 'object' && value !== null && !(value instanceof Error))
      this.#origins.set(value, subschema);
    return value;
  }
}

interface JoinedPart {
  readonly type: string;
  readonly selections: readonly FieldNode[];
  /** Place of the object in the client's document. */
  readonly place: string;
}

/** Returns the place of an object in a document: the fields that lead to it, with their types. */
function placeOf({ path }: GraphQLResolveInfo): string {
  let place = '';
  for (let at = path.prev; at; at = at.prev) if (typeof at.key === 'string') place += `${at.typename}.${at.key} `;
  return place;
}

function own(source: object, key: string): unknown {
  return Object.hasOwn(source, key) ? (source as Readonly<Record<string, unknown>>)[key] : undefined;
}
