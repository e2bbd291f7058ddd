import { anything, block, bool, duration, int, list, map, named, of, ref, text, type Static } from './field.ts';

const rest = block({
  upstreamRef: ref('Upstream that is asked.'),
  request: of(
    block({
      headers: map(text(), 'Template by header, with `:method` and `:path`.'),
      queryParams: map(text(), 'Template by query parameter.'),
      body: anything('Body; every text in it may be a template.'),
    }),
    'The request.',
  ),
  response: of(
    block({
      resultRoot: text('Path to the part of the response that is used.'),
      setters: map(text(), 'Template by field, on `$body`.'),
    }),
    'What is made of the response.',
  ),
  batch: of(
    block(
      {
        key: text('Template of the key of one field, e.g. `{$parent.id}`.'),
        keyField: text(
          'Field of each element of the response that has its key. Unset: the response is an object by key.',
        ),
        maxKeys: int('Most keys in one request.', { minimum: 1, maximum: 10_000, default: 100 }),
      },
      { required: ['key'] },
    ),
    'Asks once for many fields of a list: `{$batch.keys}` in the request stands for all their keys.',
  ),
  timeout: duration('Longest time. Default: the connect timeout of the upstream, else 1s.'),
  spanName: text('Name of the span of each request. Default: the name of the resolution.'),
});
const grpc = block({
  upstreamRef: ref('Upstream that is asked.'),
  requestTransform: of(
    block({
      outgoingMessageJson: anything('The message; every text in it may be a template.'),
      serviceName: text('Full name of the service.'),
      methodName: text('Method.'),
      requestMetadata: map(text(), 'Template by metadata key.'),
    }),
    'The call.',
  ),
  timeout: duration('Longest time. Default: the connect timeout of the upstream, else 1s.'),
  spanName: text('Name of the span of each call. Default: the name of the resolution.'),
});
const mock = block(
  {
    syncResponse: anything('Answers this.'),
    asyncResponse: of(
      block({ response: anything('What is answered.'), delay: duration('How long it takes.') }),
      'Answers this after a while.',
    ),
    errorResponse: text('Answers with this error.'),
  },
  { oneOf: [{ members: ['syncResponse', 'asyncResponse', 'errorResponse'] }] },
);
const resolution = block(
  {
    restResolver: of(rest, 'Asks a REST service.'),
    grpcResolver: of(grpc, 'Calls a gRPC service.'),
    mockResolver: of(mock, 'Answers without asking.'),
    statPrefix: text('Prefix of the statistics. Default: the name.'),
  },
  { oneOf: [{ members: ['restResolver', 'grpcResolver', 'mockResolver'] }] },
);
/** How a field gets its value. */
export interface Resolution extends Static<typeof resolution> {}
export const Resolution = named<Resolution>('Resolution', resolution);

const executor = block(
  {
    local: of(
      block({
        resolutions: map(Resolution, 'Resolutions by the name in `@resolve`.'),
        enableIntrospection: bool('Answers questions about the schema.', { default: false }),
        options: of(block({ maxDepth: int('Deepest field; 0 is no limit.', { minimum: 0, default: 0 }) }), 'Limits.'),
      }),
      'Runs queries here.',
    ),
    remote: of(
      block({
        upstreamRef: ref('Upstream with the server.'),
        headers: map(text(), 'Header values, with templates.'),
        queryParams: map(text(), 'Query parameters, with templates.'),
        spanName: text('Name of the span of each request. Default: the name of the upstream.'),
        enableIntrospection: bool(
          'Enables introspection, answered from `schemaDefinition`. Extension of this gateway.',
          {
            default: false,
          },
        ),
        errorExtensions: list(
          text(),
          'Keys of the `extensions` of errors that are returned to clients; others, such as stack traces, are removed. Extension of this gateway.',
          { default: ['code'] },
        ),
        resultExtensions: list(
          text(),
          'Keys of the `extensions` of results that are returned to clients. Default: none. Extension of this gateway.',
        ),
      }),
      'Hands queries to a GraphQL server.',
    ),
  },
  { oneOf: [{ members: ['local', 'remote'] }] },
);
const registry = block(
  {
    protoDescriptor: text('File with a descriptor set, at most 10 MiB; a path below the configuration directory.'),
    protoDescriptorBin: text('Descriptor set as base64.'),
    protoRefsList: of(
      block({ configMapRefs: list(ref(), 'ConfigMaps; each value is a descriptor set as base64.') }),
      'Descriptor sets in ConfigMaps.',
    ),
  },
  { oneOf: [{ members: ['protoDescriptor', 'protoDescriptorBin', 'protoRefsList'] }] },
);
const executable = block({
  schemaDefinition: text('Schema definition language, with `@resolve` and `@cacheControl`.'),
  executor: of(executor, 'Who runs queries.'),
  grpcDescriptorRegistry: of(registry, 'Descriptors of gRPC services.'),
});
const stitched = block({
  subschemas: list(
    block({
      name: text('Name of a GraphQLApi.'),
      namespace: text('Its namespace.'),
      typeMerge: map(
        block({
          selectionSet: text('Key fields, e.g. `{ id }`.'),
          queryName: text('Root field that gives the whole type.'),
          args: map(text(), 'Path in the object by argument.'),
        }),
        'How types of other APIs are completed here, by type.',
      ),
    }),
    'The APIs that are joined.',
  ),
});

const limit = (description: string, value: number, minimum = 0) => int(description, { minimum, default: value });
const limits = block({
  maxDocumentLength: limit('Characters of a document; 0 is no limit.', 65_536),
  maxTokens: limit('Tokens of a document; 0 is no limit.', 1000),
  maxQueryDepth: limit('Levels of fields; 0 is no limit.', 15),
  maxAliases: limit('Aliases in a document; 0 is no limit.', 15),
  maxRootFields: limit('Fields of the operation itself; 0 is no limit.', 20),
  maxDirectives: limit('Directives in a document; 0 is no limit.', 50),
  maxFields: limit('Fields of an operation with all fragments opened; 0 is no limit.', 5000),
  maxFieldRepeats: limit('How often one selection may name the same field; 0 is no limit.', 20),
  maxBatchSize: limit('Operations in one HTTP request; 0 allows no batch.', 0),
  maxBodyBytes: limit('Bytes of a request.', 1_048_576, 1),
  operationTimeoutMs: limit('Milliseconds for one operation.', 15_000, 1),
  maxUpstreamCalls: limit('Requests to upstreams for one operation; 0 is no limit.', 1000),
  maxConcurrentCalls: limit('Requests to upstreams for one operation at the same time; 0 is no limit.', 20),
  maxResponseBytes: limit('Bytes of one answer of an upstream.', 10_485_760, 1),
  maxConnections: limit('WebSockets and event streams at the same time; 0 is no limit.', 10_000),
  maxSubscriptions: limit('Operations of one WebSocket at the same time; 0 is no limit.', 100),
  maxRunningSubscriptions: limit('Subscriptions at the server behind at the same time; 0 is no limit.', 1000),
  connectionInitTimeoutMs: limit('Milliseconds that a WebSocket may stay without `connection_init`.', 10_000, 1),
  pingIntervalMs: limit(
    'Milliseconds between pings of a WebSocket, each of which has to be answered; 0 is none.',
    30_000,
  ),
  maxConnectionMs: limit('Milliseconds that a WebSocket or an event stream lives; 0 is no limit.', 3_600_000),
});

const fields = block(
  {
    executableSchema: of(executable, 'An API of its own.'),
    stitchedSchema: of(stitched, 'An API joined from others.'),
    statPrefix: text('Prefix of the statistics. Default: `<namespace>_<name>`.'),
    persistedQueryCacheConfig: of(
      block({ cacheSize: int('Most queries kept.', { minimum: 0, default: 1000 }) }),
      'Queries that clients name by their hash.',
    ),
    allowedQueryHashes: list(text(), 'SHA-256 of the only queries that run. Empty: all.'),
    options: of(
      block({
        logSensitiveInfo: bool('Logs requests and responses at level debug.', { default: false }),
        limits: of(limits, 'What clients may ask for.'),
        allowedOrigins: list(
          text(),
          'Origins whose pages may open WebSockets, beside the own one, e.g. `https://app.example.com`; `*` is any.',
        ),
      }),
      'Options.',
    ),
  },
  {
    oneOf: [
      {
        members: ['executableSchema', 'stitchedSchema'],
        required: true,
        message: 'a GraphQLApi must set executableSchema or stitchedSchema',
      },
    ],
  },
);
/** `spec` of a GraphQLApi. */
export interface GraphQLApiSpec extends Static<typeof fields> {}
export const GraphQLApiSpec = named<GraphQLApiSpec>('GraphQLApiSpec', fields);
