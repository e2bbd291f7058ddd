import * as f from '../field.ts';
import { GrpcJsonTranscoder } from '../listener/grpc-json-transcoder.ts';
import { TransformationTemplate } from '../route/transformations.ts';

const fields = f.block(f.exclusive, {
  rest: f.group('A REST service with functions.', {
    transformations: f.map(TransformationTemplate, 'Template of the request by function.'),
    swaggerInfo: f.group(
      'OpenAPI 3 or Swagger 2 document of the functions, for function discovery. Default: it is requested at the usual paths.',
      f.exclusive,
      {
        url: f.text('URL of the document at the upstream; only its path counts.'),
        inline: f.text('The document.'),
      },
    ),
  }),
  grpc: f.group('Deprecated; a gRPC service.', f.unsupported, {
    descriptors: f.text('Descriptor set as base64.'),
    grpcServices: f.groups('The services.', {
      packageName: f.text('Package.'),
      serviceName: f.text('Service.'),
      functionNames: f.texts('Methods.'),
    }),
  }),
  grpcJsonTranscoder: f.of(
    GrpcJsonTranscoder,
    'Translates JSON over HTTP to the gRPC services of the upstream. Replaces that of the listener.',
  ),
  graphql: f.group('Deprecated; a GraphQL server.', f.unsupported, {
    endpoint: f.group('The server.', { url: f.text('URL of the server.') }),
  }),
});
/** The functions of an upstream. */
export interface ServiceSpec extends f.Static<typeof fields> {}
export const ServiceSpec = f.named<ServiceSpec>('ServiceSpec', fields);

const selector = f.block({
  keys: f.texts('Labels that define a subset: one for each combination of their values.'),
  singleHostPerSubset: f.flag('Uses only the first host of each subset.'),
});
const subset = f.block({
  selectors: f.list(selector, 'The subsets.'),
  fallbackPolicy: f.choice(
    ['ANY_ENDPOINT', 'DEFAULT_SUBSET', 'NO_FALLBACK'],
    'Hosts for requests without a subset, or whose subset has none. `NO_FALLBACK` returns 503.',
    { default: 'ANY_ENDPOINT' },
  ),
  defaultSubset: f.group('The subset of `DEFAULT_SUBSET`.', { values: f.map(f.text(), 'Value by label.') }),
});
/** Subsets of hosts by label. */
export interface SubsetSpec extends f.Static<typeof subset> {}
export const SubsetSpec = f.named<SubsetSpec>('SubsetSpec', subset);
