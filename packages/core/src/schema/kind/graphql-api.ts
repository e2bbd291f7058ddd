import { anything, block, bool, duration, int, list, map, named, of, ref, text, type Static } from '../field.ts';

const rest = block({
  upstreamRef: ref('Upstream to call.'),
  request: of(
    block({
      headers: map(text(), 'Template by header, with `:method` and `:path`.'),
      queryParams: map(text(), 'Template by query parameter.'),
      body: anything('Body; every string in it may be a template.'),
    }),
    'The request.',
  ),
  response: of(
    block({
      resultRoot: text('Path to the part of the response to use.'),
      setters: map(text(), 'Template by field, on `$body`.'),
    }),
    'Mapping of the response.',
  ),
  batch: of(
    block(
      {
        key: text('Template of the key of one field, e.g. `{$parent.id}`.'),
        keyField: text('Field with the key in each element of the response. Unset: the response is an object by key.'),
        maxKeys: int('Maximum number of keys per request.', { minimum: 1, maximum: 10_000, default: 100 }),
      },
      { required: ['key'] },
    ),
    'Sends one request for many fields of a list: `{$batch.keys}` in the request is the list of their keys.',
  ),
  timeout: duration('Timeout. Default: the connect timeout of the upstream, else 1s.'),
  spanName: text('Name of the span of each request. Default: the name of the resolution.'),
});
const grpc = block({
  upstreamRef: ref('Upstream to call.'),
  requestTransform: of(
    block({
      outgoingMessageJson: anything('The message; every string in it may be a template.'),
      serviceName: text('Full name of the service.'),
      methodName: text('Method.'),
      requestMetadata: map(text(), 'Template by metadata key.'),
    }),
    'The call.',
  ),
  timeout: duration('Timeout. Default: the connect timeout of the upstream, else 1s.'),
  spanName: text('Name of the span of each call. Default: the name of the resolution.'),
});
const mock = block(
  {
    syncResponse: anything('Returns this response.'),
    asyncResponse: of(
      block({ response: anything('The response.'), delay: duration('The delay.') }),
      'Returns this response after a delay.',
    ),
    errorResponse: text('Returns this error.'),
  },
  { oneOf: [{ members: ['syncResponse', 'asyncResponse', 'errorResponse'] }] },
);
const resolution = block(
  {
    restResolver: of(rest, 'Calls a REST service.'),
    grpcResolver: of(grpc, 'Calls a gRPC service.'),
    mockResolver: of(mock, 'Returns a response without a call.'),
    statPrefix: text('Prefix of the statistics. Default: the name.'),
  },
  { oneOf: [{ members: ['restResolver', 'grpcResolver', 'mockResolver'] }] },
);
/** How a field is resolved. */
export interface Resolution extends Static<typeof resolution> {}
export const Resolution = named<Resolution>('Resolution', resolution);

const executor = block(
  {
    local: of(
      block({
        resolutions: map(Resolution, 'Resolutions by the name in `@resolve`.'),
        enableIntrospection: bool('Enables introspection.', { default: false }),
        options: of(
          block({ maxDepth: int('Maximum depth of fields; 0 is no limit.', { minimum: 0, default: 0 }) }),
          'Limits.',
        ),
      }),
      'Executes queries in the gateway.',
    ),
    remote: of(
      block({
        upstreamRef: ref('Upstream with the server.'),
        headers: map(text(), 'Header values, with templates.'),
        queryParams: map(text(), 'Query parameters, with templates.'),
        spanName: text('Name of the span of each request. Default: the name of the upstream.'),
        enableIntrospection: bool('Enables introspection of `schemaDefinition`. Extension of this gateway.', {
          default: false,
        }),
        errorExtensions: list(
          text(),
          'Keys of the `extensions` of errors to return to clients; others, such as stack traces, are removed. Extension of this gateway.',
          { default: ['code'] },
        ),
        resultExtensions: list(
          text(),
          'Keys of the `extensions` of results to return to clients. Default: none. Extension of this gateway.',
        ),
      }),
      'Forwards queries to a GraphQL server.',
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
  executor: of(executor, 'The executor of queries.'),
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
          queryName: text('Root field that returns the whole type.'),
          args: map(text(), 'Path in the object by argument.'),
        }),
        'How types of other APIs are completed by this API, by type.',
      ),
    }),
    'The joined APIs.',
  ),
});

const limit = (description: string, value: number, minimum = 0) => int(description, { minimum, default: value });
const limits = block({
  maxDocumentLength: limit('Maximum number of characters in a document; 0 is no limit.', 65_536),
  maxTokens: limit('Maximum number of tokens in a document; 0 is no limit.', 1000),
  maxQueryDepth: limit('Maximum depth of fields; 0 is no limit.', 15),
  maxAliases: limit('Maximum number of aliases in a document; 0 is no limit.', 15),
  maxRootFields: limit('Maximum number of root fields; 0 is no limit.', 20),
  maxDirectives: limit('Maximum number of directives in a document; 0 is no limit.', 50),
  maxFields: limit('Maximum number of fields in an operation with all fragments expanded; 0 is no limit.', 5000),
  maxFieldRepeats: limit('Maximum number of times that a selection may contain the same field; 0 is no limit.', 20),
  maxBatchSize: limit('Maximum number of operations in one HTTP request; 0 allows no batch.', 0),
  maxBodyBytes: limit('Maximum request size in bytes.', 1_048_576, 1),
  operationTimeoutMs: limit('Timeout of one operation in milliseconds.', 15_000, 1),
  maxUpstreamCalls: limit('Maximum number of upstream requests per operation; 0 is no limit.', 1000),
  maxConcurrentCalls: limit('Maximum number of concurrent upstream requests per operation; 0 is no limit.', 20),
  maxResponseBytes: limit('Maximum size of an upstream response in bytes.', 10_485_760, 1),
  maxConnections: limit('Maximum number of concurrent WebSockets and event streams; 0 is no limit.', 10_000),
  maxSubscriptions: limit('Maximum number of concurrent operations per WebSocket; 0 is no limit.', 100),
  maxRunningSubscriptions: limit(
    'Maximum number of concurrent subscriptions at the upstream server; 0 is no limit.',
    1000,
  ),
  connectionInitTimeoutMs: limit('Time for a WebSocket to send `connection_init`, in milliseconds.', 10_000, 1),
  pingIntervalMs: limit(
    'Interval between WebSocket pings, each of which must be answered, in milliseconds; 0 is none.',
    30_000,
  ),
  maxConnectionMs: limit(
    'Maximum lifetime of a WebSocket or an event stream in milliseconds; 0 is no limit.',
    3_600_000,
  ),
});

const fields = block(
  {
    executableSchema: of(executable, 'A single API.'),
    stitchedSchema: of(stitched, 'An API that joins other APIs.'),
    statPrefix: text('Prefix of the statistics. Default: `<namespace>_<name>`.'),
    persistedQueryCacheConfig: of(
      block({ cacheSize: int('Maximum number of cached queries.', { minimum: 0, default: 1000 }) }),
      'Persisted queries, which clients name by their hash.',
    ),
    allowedQueryHashes: list(text(), 'SHA-256 hashes of allowed queries. Empty: all.'),
    options: of(
      block({
        logSensitiveInfo: bool('Logs requests and responses at level debug.', { default: false }),
        limits: of(limits, 'Limits for client requests.'),
        allowedOrigins: list(
          text(),
          'Origins, besides its own, whose pages may open WebSockets, e.g. `https://app.example.com`; `*` is any.',
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
