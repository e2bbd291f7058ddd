import * as f from '../field.ts';

const fields = f.block(f.oneOf(['protoDescriptor', 'protoDescriptorBin', 'protoDescriptorConfigMap']), {
  protoDescriptor: f.text('File with a descriptor set.'),
  protoDescriptorBin: f.text('Descriptor set as base64.'),
  protoDescriptorConfigMap: f.group('Descriptor set in a ConfigMap.', {
    configMapRef: f.ref('The ConfigMap.'),
    key: f.text('Key. Default: the only one.'),
  }),
  services: f.texts('Full names of the services to translate.'),
  printOptions: f.group('JSON print options.', {
    addWhitespace: f.flag('Adds white space and line breaks to the JSON.'),
    alwaysPrintPrimitiveFields: f.flag('Writes fields with default values.'),
    alwaysPrintEnumsAsInts: f.flag('Writes enums as numbers.'),
    preserveProtoFieldNames: f.flag('Keeps field names in snake_case.'),
  }),
  matchIncomingRequestRoute: f.flag('Keeps the route of the JSON request.'),
  ignoredQueryParameters: f.texts('Query parameters to ignore.'),
  autoMapping: f.flag('Also accepts `POST /package.Service/Method`.'),
  ignoreUnknownQueryParameters: f.flag('Ignores unknown query parameters.'),
  convertGrpcStatus: f.flag('Writes a gRPC status as JSON.'),
});
/** Translates between JSON over HTTP and gRPC. */
export interface GrpcJsonTranscoder extends f.Static<typeof fields> {}
export const GrpcJsonTranscoder = f.named<GrpcJsonTranscoder>('GrpcJsonTranscoder', fields);
