import { createContext, onlyProtected, type Context, type Handler, type ResourceRef } from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { GraphQLSchema } from 'graphql';
import type { ExecutableApi } from './execute/executable-api.ts';
import { createApi, type FoundApi } from './create-api.ts';
import type { ExecutableSchema } from './execute/local-api.ts';
import { createSchemaApi, type ContextValue, type SchemaApiOptions } from './execute/schema-api.ts';
import { readDescriptorFile } from '@edge-gateway/core/descriptors';
import { limitsOf, type Limits } from './document/limits.ts';
import { graphqlError } from './errors/refusal.ts';
import type { ChangePolicy } from './remote/judge-schema.ts';
import type { RemoteExecutor } from './remote/remote-api.ts';
import { SERVER_PATH } from './remote/server-path.ts';
import { createResponder, handlerOf } from './serve/respond.ts';
import type { ResultStore } from './cache/shared-results.ts';
import { createApiCounts } from './observe/statistics.ts';
import { createUrlCaller, type UpstreamUrls } from './resolvers/upstream-urls.ts';

type Local = NonNullable<NonNullable<ExecutableSchema['executor']>['local']>;

/** A GraphQL API for a server of your own. */
export interface GraphQLApiOptions {
  /**
   * Schema definition language, with `@resolve` and `@cacheControl`. May be left out for `remote` and `stitchedSchema`, and must be for
   * `schema`.
   */
  readonly schemaDefinition?: string;
  /**
   * A schema with resolvers of your own, e.g. of `makeExecutableSchema`, in place of `schemaDefinition` and `resolutions`. It must be
   * made with the same copy of the package `graphql`.
   */
  readonly schema?: GraphQLSchema;
  /** Creates the third argument of the resolvers of `schema`, for each operation. Default: `{ facts, signal }` of the request. */
  readonly contextValue?: ContextValue;
  /** Forwards operations to a GraphQL server instead. Without `schemaDefinition` its schema is read by introspection. */
  readonly remote?: RemoteExecutor;
  /** Path on the server of `remote`. Default `/graphql`. */
  readonly remotePath?: string;
  /**
   * How schema changes of the server of `remote` are applied: `rejectBreakingChanges` keeps the previous schema. Default: every change
   * is applied and logged.
   */
  readonly schemaChanges?: ChangePolicy;
  /** Joins other APIs instead, see `apis`. */
  readonly stitchedSchema?: GraphQLApiSpec['stitchedSchema'];
  /** `spec` of the APIs that `stitchedSchema` names, by name. */
  readonly apis?: Readonly<Record<string, GraphQLApiSpec>>;
  /** Resolvers by the name in `@resolve`, as in a GraphQLApi resource. */
  readonly resolutions?: Local['resolutions'];
  /** Base URLs of the upstreams of resolvers. */
  readonly upstreams?: UpstreamUrls;
  /** Enables introspection. Default false. */
  readonly enableIntrospection?: boolean;
  /** Fields below this depth are null with an error; 0 is no limit. Default 0. */
  readonly maxDepth?: number;
  /** `protoDescriptor` is a file below `filesRoot` of the context, by default the working directory. It is read once, by this call. */
  readonly grpcDescriptorRegistry?: ExecutableSchema['grpcDescriptorRegistry'];
  readonly persistedQueryCacheConfig?: GraphQLApiSpec['persistedQueryCacheConfig'];
  readonly allowedQueryHashes?: GraphQLApiSpec['allowedQueryHashes'];
  /**
   * `logSensitiveInfo` logs requests and results at level debug. Default false. `allowedOrigins` are origins whose
   * pages may open WebSockets, in addition to the own origin; `*` is any. Default: none.
   */
  readonly options?: GraphQLApiSpec['options'];
  /** Replaces defaults of the limits, see `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>;
  /** Store for results that `@cacheControl` makes public, e.g. `redisResults(url, log)`. Default: in memory. */
  readonly cache?: ResultStore;
  /**
   * At least 32 random bytes, the same for all processes that share `cache`: results are encrypted with it. Default: the Secret
   * `gw-system.extauth-signing-key` of the context, else random, so that no other process uses the results.
   */
  readonly cacheKey?: string;
  /**
   * Adds an editor for queries to the page that browsers get, with an example that shows names of the schema to everyone who may
   * open it. Queries run as those of any client; without `enableIntrospection` the schema cannot be read. Default false.
   */
  readonly explorer?: boolean;
  /** Name in logs and statistics. Default `graphql`. */
  readonly name?: string;
}

/** Options of an API whose fields are resolved here. */
export type ExecutedHereOptions = GraphQLApiOptions & {
  readonly remote?: undefined;
  readonly stitchedSchema?: undefined;
};

/** A GraphQL API as a middleware. */
export interface GraphQLApiHandler extends Handler {
  /** The schema with working resolvers, for other servers; `undefined` for `remote` and `stitchedSchema`. */
  readonly schema: GraphQLSchema | undefined;
}

/** Namespace of references that name none. */
const NAMESPACE = 'default';

const ofSpec = (...path: readonly string[]) => f.fieldOf(f.GraphQLApiSpec, ...path);
const ofExecutable = (...path: readonly string[]) => ofSpec('executableSchema', ...path);
const isStore = (store: unknown): boolean => {
  const { get, set } = (store ?? {}) as Partial<ResultStore>;
  return typeof get === 'function' && typeof set === 'function';
};
const fields = {
  schemaDefinition: ofExecutable('schemaDefinition'),
  schema: f.value<GraphQLSchema>((each) =>
    typeof each === 'object' && each !== null ? undefined : 'must be a GraphQLSchema',
  ),
  contextValue: f.value<ContextValue>((each) => (typeof each === 'function' ? undefined : 'must be a function')),
  remote: ofExecutable('executor', 'remote'),
  remotePath: f.text(),
  schemaChanges: f.fieldOf(f.SettingsSpec, 'graphqlOptions', 'schemaChangeValidationOptions'),
  stitchedSchema: ofSpec('stitchedSchema'),
  apis: f.map(f.GraphQLApiSpec),
  resolutions: ofExecutable('executor', 'local', 'resolutions'),
  upstreams: f.map(f.text()),
  enableIntrospection: f.bool(),
  maxDepth: ofExecutable('executor', 'local', 'options', 'maxDepth'),
  grpcDescriptorRegistry: ofExecutable('grpcDescriptorRegistry'),
  persistedQueryCacheConfig: ofSpec('persistedQueryCacheConfig'),
  allowedQueryHashes: ofSpec('allowedQueryHashes'),
  options: ofSpec('options'),
  limits: ofSpec('options', 'limits'),
  cache: f.value<ResultStore>((store) => (isStore(store) ? undefined : 'must be a store, e.g. of redisResults()')),
  cacheKey: f.text(),
  explorer: f.bool(),
  name: f.text(),
} satisfies Record<keyof GraphQLApiOptions, f.Schema>;
const rules: f.OptionRules = {
  schema: f.block(fields),
  error: (message) => graphqlError('ERR_GRAPHQL_API', `${message}.`),
};

/**
 * Creates a middleware that serves a GraphQL API. It responds to every request, and passes to `next` only errors that are not the
 * client's fault. Throws `ERR_GRAPHQL_API` if the API is invalid. WebSockets require `protect`: its
 * `upgrade` runs the handlers in front of the API. `drain`
 * ends subscriptions so that their clients connect again, elsewhere; `close` ends its connections.
 *
 * @example
 * app.use('/graphql', graphqlApi({
 *   schemaDefinition: 'type Query { book(id: ID!): Book @resolve(name: "book") } type Book { id: ID title: String }',
 *   resolutions: {
 *     book: { restResolver: { upstreamRef: { name: 'books' }, request: { headers: { ':path': '/books/{$args.id}' } } } },
 *   },
 *   upstreams: { books: 'http://127.0.0.1:9080' },
 * }));
 */
export function graphqlApi(
  options: ExecutedHereOptions,
  context?: Context,
): GraphQLApiHandler & { schema: GraphQLSchema };
export function graphqlApi(options: GraphQLApiOptions, context?: Context): GraphQLApiHandler;
export function graphqlApi(written: GraphQLApiOptions, given: Context = createContext()): GraphQLApiHandler {
  const options = f.checkOptions('graphqlApi', written, rules);
  const caller = options.upstreams ? createUrlCaller(options.upstreams) : undefined;
  const context: Context = {
    ...given,
    state: given.state.bind(given),
    ...(caller && { callUpstream: caller.call }),
  };
  const name = options.name ?? 'graphql';
  const limits = limitsOf(options.limits);
  const counts = createApiCounts(context.metrics, name);
  const ref = { name, namespace: NAMESPACE };
  const foundOf = (spec: GraphQLApiSpec): FoundApi => ({ spec, descriptorSets: descriptorFileOf(spec, name, given) });
  const findApi = (wanted: ResourceRef): FoundApi | undefined =>
    Object.hasOwn(options.apis ?? {}, wanted.name) ? foundOf(options.apis![wanted.name]!) : undefined;
  const remotePath = (): string => options.remotePath ?? SERVER_PATH;
  const found = { findApi, remotePath, findUpstream: caller?.find, changes: options.schemaChanges };
  const parts = { ref, ...foundOf(specOf(options)), limits, counts, ...found };
  if (caller) checkUpstreams(options, (name) => caller.find(name) !== undefined);
  if (options.contextValue && options.schema === undefined) {
    throw graphqlError('ERR_GRAPHQL_API', `${name}: contextValue requires schema.`);
  }
  const api = options.schema === undefined ? createApi(parts, context) : schemaApi({ name, limits }, options, context);
  const shared = options.cache && {
    store: options.cache,
    scope: JSON.stringify([name, parts.spec, options.apis]),
    key: options.cacheKey,
  };
  const responder = createResponder(
    { api, limits, counts, spec: options, shared, explorer: options.explorer },
    context,
  );
  const isExecutedHere = !options.remote && !options.stitchedSchema;
  const handler: GraphQLApiHandler = Object.assign(handlerOf(responder), {
    schema: isExecutedHere ? api.schema : undefined,
  });
  const upgrade: NonNullable<Handler['upgrade']> = (req, socket, head) => void responder.upgrade!(req, socket, head);
  handler.upgrade = onlyProtected(upgrade, context.log.get('graphql'));
  if (responder.drain) handler.drain = responder.drain.bind(responder);
  handler.close = async () => {
    await responder.close?.();
    await caller?.close();
  };
  return handler;
}

/** Throws `ERR_GRAPHQL_API` if a resolver or a remote executor names an upstream without a URL. */
function checkUpstreams(
  { resolutions, remote, apis = {} }: GraphQLApiOptions,
  isKnown: (upstream: ResourceRef) => boolean,
): void {
  const check = (place: string, written?: { readonly name?: string; readonly namespace?: string }): void => {
    if (!written?.name) return;
    const { name, namespace } = written;
    if (isKnown({ name, namespace: namespace || NAMESPACE })) return;
    throw graphqlError(
      'ERR_GRAPHQL_API',
      `${place}.upstreamRef: upstreams has no URL of ${namespace ? `${namespace}/` : ''}${name}.`,
    );
  };
  const checkAll = (place: string, executor: { readonly local?: Local; readonly remote?: RemoteExecutor }): void => {
    for (const [name, { restResolver, grpcResolver }] of Object.entries(executor.local?.resolutions ?? {})) {
      check(`${place}resolutions.${name}.restResolver`, restResolver?.upstreamRef);
      check(`${place}resolutions.${name}.grpcResolver`, grpcResolver?.upstreamRef);
    }
    check(`${place}remote`, executor.remote?.upstreamRef);
  };
  checkAll('', { local: { resolutions }, remote });
  for (const [name, { executableSchema }] of Object.entries(apis)) {
    const { local, remote } = executableSchema?.executor ?? {};
    const place = `apis.${name}.executableSchema.executor.`;
    checkAll(`${place}local.`, { local });
    checkAll(place, { remote });
  }
}

/** Returns the content of the descriptor file of an API, as base64. Throws `ERR_GRAPHQL_API` if it cannot be read. */
function descriptorFileOf(spec: GraphQLApiSpec, name: string, { filesRoot }: Context): readonly string[] {
  const { protoDescriptor } = spec.executableSchema?.grpcDescriptorRegistry ?? {};
  if (!protoDescriptor) return [];
  try {
    return [readDescriptorFile(protoDescriptor, filesRoot ?? process.cwd()).toString('base64')];
  } catch (error) {
    throw graphqlError('ERR_GRAPHQL_API', `${name}: ${(error as Error).message}.`, error);
  }
}

/** Options that define the source of fields in another way. */
const OTHER_SOURCES = [
  'schemaDefinition',
  'resolutions',
  'upstreams',
  'grpcDescriptorRegistry',
  'remote',
  'stitchedSchema',
  'apis',
] as const;

function schemaApi(
  { name, limits }: Pick<SchemaApiOptions, 'name' | 'limits'>,
  options: GraphQLApiOptions,
  { log }: Context,
): ExecutableApi {
  const { schema, contextValue, enableIntrospection = false, maxDepth = 0 } = options;
  const other = OTHER_SOURCES.find((each) => options[each] !== undefined);
  if (other) throw graphqlError('ERR_GRAPHQL_API', `${name}: schema cannot be combined with ${other}.`);
  try {
    return createSchemaApi(schema, {
      contextValue,
      enableIntrospection,
      maxDepth,
      limits,
      name,
      log: log.get('graphql'),
    });
  } catch (error) {
    throw graphqlError('ERR_GRAPHQL_API', `${name}: ${(error as Error).message}.`, error);
  }
}

function specOf(options: GraphQLApiOptions): GraphQLApiSpec {
  const { schemaDefinition, resolutions, enableIntrospection, maxDepth, grpcDescriptorRegistry } = options;
  if (options.stitchedSchema) return { stitchedSchema: options.stitchedSchema };
  if (options.remote) {
    const remote = { enableIntrospection, ...options.remote };
    return { executableSchema: { schemaDefinition, executor: { remote } } };
  }
  const local = { resolutions, enableIntrospection, options: { maxDepth } };
  return { executableSchema: { schemaDefinition, grpcDescriptorRegistry, executor: { local } } };
}
