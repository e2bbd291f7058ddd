import * as f from '../field.ts';

const fields = f.block(f.oneOf(['protoDescriptor', 'protoDescriptorBin', 'protoDescriptorConfigMap']), {
  protoDescriptor: f.text(
    'File with a descriptor set, below the directory of the resources; at most 10 MiB. It is watched.',
  ),
  protoDescriptorBin: f.text('Descriptor set as base64.'),
  protoDescriptorConfigMap: f.group('Descriptor set in a ConfigMap, as base64.', {
    configMapRef: f.ref('The ConfigMap.'),
    key: f.text('Key. Default: the only one.'),
  }),
  services: f.texts('Full names of the services to translate, e.g. `shop.v1.Books`.'),
  printOptions: f.group('JSON print options.', {
    addWhitespace: f.flag('Adds white space and line breaks to the JSON.'),
    alwaysPrintPrimitiveFields: f.flag('Writes fields with default values, and empty lists and maps.'),
    alwaysPrintEnumsAsInts: f.flag('Writes enums as numbers.'),
    preserveProtoFieldNames: f.flag('Writes field names as in the definition, instead of in camel case.'),
  }),
  matchIncomingRequestRoute: f.flag(
    'Keeps the route of the JSON request. Default: the route is selected again, by `/<package>.<Service>/<Method>`.',
  ),
  ignoredQueryParameters: f.texts('Query parameters to ignore.'),
  autoMapping: f.flag('Also translates `POST /<package>.<Service>/<Method>`, for methods without an HTTP rule.'),
  ignoreUnknownQueryParameters: f.flag(
    'Ignores query parameters that are not fields. Default: a request with such a parameter is not translated.',
  ),
  convertGrpcStatus: f.flag(
    'Writes the status of a failed call as a JSON body (`google.rpc.Status`). Default: only as headers.',
  ),
});
/** Translates between JSON over HTTP and gRPC. */
export interface GrpcJsonTranscoder extends f.Static<typeof fields> {}
export const GrpcJsonTranscoder = f.named<GrpcJsonTranscoder>('GrpcJsonTranscoder', fields);
