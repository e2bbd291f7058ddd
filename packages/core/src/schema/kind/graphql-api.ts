import * as f from '../field.ts';

const rest = f.block({
  upstreamRef: f.ref('Upstream to call.'),
  request: f.group('The request.', {
    headers: f.map(f.text(), 'Template by header, with `:method` and `:path`.', f.headerValue),
    queryParams: f.map(f.text(), 'Template by query parameter.', f.headerValue),
    body: f.anything('Body; every string in it may be a template.'),
  }),
  response: f.group('Mapping of the response.', {
    resultRoot: f.text('Path to the part of the response to use.'),
    setters: f.map(f.text(), 'Template by field, on `$body`.'),
  }),
  batch: f.group(
    'Sends one request for many fields of a list: `{$batch.keys}` in the request is the list of their keys.',
    f.required('key'),
    {
      key: f.text('Template of the key of one field, e.g. `{$parent.id}`.'),
      keyField: f.text('Field with the key in each element of the response. Unset: the response is an object by key.'),
      maxKeys: f.int('Maximum number of keys per request.', { minimum: 1, maximum: 10_000, default: 100 }),
    },
  ),
  timeout: f.duration('Timeout. Default: the connect timeout of the upstream, else 1s.'),
  spanName: f.text('Name of the span of each request. Default: the name of the resolution.'),
});
const grpc = f.block({
  upstreamRef: f.ref('Upstream to call.'),
  requestTransform: f.group('The call.', {
    outgoingMessageJson: f.anything('The message; every string in it may be a template.'),
    serviceName: f.text('Full name of the service.'),
    methodName: f.text('Method.'),
    requestMetadata: f.map(f.text(), 'Template by metadata key.', f.headerValue),
  }),
  timeout: f.duration('Timeout. Default: the connect timeout of the upstream, else 1s.'),
  spanName: f.text('Name of the span of each call. Default: the name of the resolution.'),
});
const mock = f.block(f.exclusive, {
  syncResponse: f.anything('Returns this response.'),
  asyncResponse: f.group('Returns this response after a delay.', {
    response: f.anything('The response.'),
    delay: f.duration('The delay.'),
  }),
  errorResponse: f.text('Returns this error.'),
});
const resolution = f.block(f.oneOf(['restResolver', 'grpcResolver', 'mockResolver']), {
  restResolver: f.of(rest, 'Calls a REST service.'),
  grpcResolver: f.of(grpc, 'Calls a gRPC service.'),
  mockResolver: f.of(mock, 'Returns a response without a call.'),
  statPrefix: f.text('Prefix of the statistics. Default: the name.'),
});
/** How a field is resolved. */
export interface Resolution extends f.Static<typeof resolution> {}
export const Resolution = f.named<Resolution>('Resolution', resolution);

const executor = f.block(f.exclusive, {
  local: f.group('Executes queries in the gateway.', {
    resolutions: f.map(Resolution, 'Resolutions by the name in `@resolve`.'),
    enableIntrospection: f.flag('Enables introspection.'),
    options: f.group('Limits.', { maxDepth: f.count('Maximum depth of fields; 0 is no limit.', { default: 0 }) }),
  }),
  remote: f.group('Forwards queries to a GraphQL server.', {
    upstreamRef: f.ref('Upstream with the server.'),
    headers: f.map(f.text(), 'Header values, with templates.', f.headerValue),
    queryParams: f.map(f.text(), 'Query parameters, with templates.', f.headerValue),
    spanName: f.text('Name of the span of each request. Default: the name of the upstream.'),
    enableIntrospection: f.flag('Enables introspection of `schemaDefinition`. Extension of this gateway.'),
    errorExtensions: f.texts(
      'Keys of the `extensions` of errors to return to clients; others, such as stack traces, are removed. Extension of this gateway.',
      { default: ['code'] },
    ),
    resultExtensions: f.texts(
      'Keys of the `extensions` of results to return to clients. Default: none. Extension of this gateway.',
    ),
  }),
});
const registry = f.block(f.exclusive, {
  protoDescriptor: f.text('File with a descriptor set, at most 10 MiB; a path below the configuration directory.'),
  protoDescriptorBin: f.text('Descriptor set as base64.'),
  protoRefsList: f.group('Descriptor sets in ConfigMaps.', {
    configMapRefs: f.list(f.ref(), 'ConfigMaps; each value is a descriptor set as base64.'),
  }),
});
const executable = f.block({
  schemaDefinition: f.text('Schema definition language, with `@resolve` and `@cacheControl`.'),
  executor: f.of(executor, 'The executor of queries.'),
  grpcDescriptorRegistry: f.of(registry, 'Descriptors of gRPC services.'),
});
const stitched = f.block({
  subschemas: f.groups('The joined APIs.', {
    name: f.text('Name of a GraphQLApi.'),
    namespace: f.text('Its namespace.'),
    typeMerge: f.map(
      f.block({
        selectionSet: f.text('Key fields, e.g. `{ id }`.'),
        queryName: f.text('Root field that returns the whole type.'),
        args: f.map(f.text(), 'Path in the object by argument.'),
      }),
      'How types of other APIs are completed by this API, by type.',
    ),
  }),
});

const limit = (description: string, value: number, minimum = 0) => f.int(description, { minimum, default: value });
const limits = f.block({
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
  maxResultFields: limit(
    'Maximum number of fields and list items in the result of an operation; 0 is no limit.',
    250_000,
  ),
  maxResultBytes: limit('Maximum size of the result of an operation in bytes; 0 is no limit.', 10_485_760),
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

const fields = f.block(
  f.exactlyOne('a GraphQLApi must set executableSchema or stitchedSchema', 'executableSchema', 'stitchedSchema'),
  {
    executableSchema: f.of(executable, 'A single API.'),
    stitchedSchema: f.of(stitched, 'An API that joins other APIs.'),
    statPrefix: f.text('Prefix of the statistics. Default: `<namespace>_<name>`.'),
    persistedQueryCacheConfig: f.group('Persisted queries, which clients name by their hash.', {
      cacheSize: f.count('Maximum number of cached queries.', { default: 1000 }),
    }),
    allowedQueryHashes: f.texts('SHA-256 hashes of allowed queries. Empty: all.'),
    options: f.group('Options.', {
      logSensitiveInfo: f.flag('Logs requests and responses at level debug.'),
      limits: f.of(limits, 'Limits for client requests.'),
      allowedOrigins: f.texts(
        'Origins, besides its own, whose pages may open WebSockets, e.g. `https://app.example.com`; `*` is any.',
      ),
    }),
  },
);
/** `spec` of a GraphQLApi. */
export interface GraphQLApiSpec extends f.Static<typeof fields> {}
export const GraphQLApiSpec = f.named<GraphQLApiSpec>('GraphQLApiSpec', fields);
