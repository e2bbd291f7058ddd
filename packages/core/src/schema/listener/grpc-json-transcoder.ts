import { block, bool, list, named, of, ref, text, type Static } from '../field.ts';

const fields = block(
  {
    protoDescriptor: text('File with a descriptor set.'),
    protoDescriptorBin: text('Descriptor set as base64.'),
    protoDescriptorConfigMap: of(
      block({ configMapRef: ref('The ConfigMap.'), key: text('Key. Default: the only one.') }),
      'Descriptor set in a ConfigMap.',
    ),
    services: list(text(), 'Full names of the services to translate.'),
    printOptions: of(
      block({
        addWhitespace: bool('Adds white space and line breaks to the JSON.', { default: false }),
        alwaysPrintPrimitiveFields: bool('Writes fields with default values.', { default: false }),
        alwaysPrintEnumsAsInts: bool('Writes enums as numbers.', { default: false }),
        preserveProtoFieldNames: bool('Keeps field names in snake_case.', { default: false }),
      }),
      'JSON print options.',
    ),
    matchIncomingRequestRoute: bool('Keeps the route of the JSON request.', { default: false }),
    ignoredQueryParameters: list(text(), 'Query parameters to ignore.'),
    autoMapping: bool('Also accepts `POST /package.Service/Method`.', { default: false }),
    ignoreUnknownQueryParameters: bool('Ignores unknown query parameters.', { default: false }),
    convertGrpcStatus: bool('Writes a gRPC status as JSON.', { default: false }),
  },
  { oneOf: [{ members: ['protoDescriptor', 'protoDescriptorBin', 'protoDescriptorConfigMap'] }] },
);
/** Translates between JSON over HTTP and gRPC. */
export interface GrpcJsonTranscoder extends Static<typeof fields> {}
export const GrpcJsonTranscoder = named<GrpcJsonTranscoder>('GrpcJsonTranscoder', fields);
