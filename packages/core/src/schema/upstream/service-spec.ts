import { block, bool, enumeration, list, map, named, of, text, type Static } from '../field.ts';
import { GrpcJsonTranscoder } from '../listener/grpc-json-transcoder.ts';
import { TransformationTemplate } from '../route/transformations.ts';

const fields = block(
  {
    rest: of(
      block({
        transformations: map(TransformationTemplate, 'Template of the request by function.'),
        swaggerInfo: of(
          block(
            { url: text('Source of the document.'), inline: text('The document.') },
            { oneOf: [{ members: ['url', 'inline'] }] },
          ),
          'OpenAPI document.',
        ),
      }),
      'A REST service with functions.',
    ),
    grpc: of(
      block({
        descriptors: text('Descriptor set as base64.'),
        grpcServices: list(
          block({
            packageName: text('Package.'),
            serviceName: text('Service.'),
            functionNames: list(text(), 'Methods.'),
          }),
          'The services.',
        ),
      }),
      'Deprecated; a gRPC service.',
    ),
    grpcJsonTranscoder: of(GrpcJsonTranscoder, 'A gRPC service with JSON transcoding.'),
    graphql: of(
      block({ endpoint: of(block({ url: text('URL of the server.') }), 'The server.') }),
      'A GraphQL server.',
    ),
  },
  { oneOf: [{ members: ['rest', 'grpc', 'grpcJsonTranscoder', 'graphql'] }] },
);
/** The functions of an upstream. */
export interface ServiceSpec extends Static<typeof fields> {}
export const ServiceSpec = named<ServiceSpec>('ServiceSpec', fields);

const selector = block({
  keys: list(text(), 'Labels that define a subset.'),
  singleHostPerSubset: bool('Each subset has one endpoint.', { default: false }),
});
const subset = block({
  selectors: list(selector, 'The subsets.'),
  fallbackPolicy: enumeration(
    ['ANY_ENDPOINT', 'DEFAULT_SUBSET', 'NO_FALLBACK'],
    'What to use if no endpoint matches.',
    { default: 'ANY_ENDPOINT' },
  ),
  defaultSubset: of(block({ values: map(text(), 'Value by label.') }), 'The subset of `DEFAULT_SUBSET`.'),
});
/** Subsets of endpoints by label. */
export interface SubsetSpec extends Static<typeof subset> {}
export const SubsetSpec = named<SubsetSpec>('SubsetSpec', subset);
