import { grpcService, message, STRUCT_MESSAGES } from '@edge-gateway/core/grpc';
import type { Part } from './messages.ts';

const HEADER_MUTATION = message({
  setHeaders: ['HeaderValueOption', 1, 'repeated'],
  removeHeaders: ['string', 2, 'repeated'],
});

const PARTS: Part[] = [
  'requestHeaders',
  'responseHeaders',
  'requestBody',
  'responseBody',
  'requestTrailers',
  'responseTrailers',
];

/** The part of Envoy's `ext_proc` protocol, version 3, that is used here, with the names and numbers on the wire. */
const EXT_PROC_V3 = {
  ...STRUCT_MESSAGES,
  BoolValue: message({ value: ['bool', 1] }),
  Duration: message({ seconds: ['int64', 1], nanos: ['int32', 2] }),
  HttpStatus: message({ code: ['int32', 1] }),
  GrpcStatus: message({ status: ['uint32', 1] }),
  HeaderValue: message({ key: ['string', 1], value: ['string', 2], rawValue: ['bytes', 3] }),
  HeaderMap: message({ headers: ['HeaderValue', 1, 'repeated'] }),
  HeaderValueOption: message({ header: ['HeaderValue', 1], append: ['BoolValue', 2] }),
  Metadata: message({ filterMetadata: ['Struct', 1, 'map'] }),
  HttpHeaders: message({ headers: ['HeaderMap', 1], endOfStream: ['bool', 3] }),
  HttpBody: message({ body: ['bytes', 1], endOfStream: ['bool', 2] }),
  HttpTrailers: message({ trailers: ['HeaderMap', 1] }),
  ProcessingRequest: message(
    {
      requestHeaders: ['HttpHeaders', 2],
      responseHeaders: ['HttpHeaders', 3],
      requestBody: ['HttpBody', 4],
      responseBody: ['HttpBody', 5],
      requestTrailers: ['HttpTrailers', 6],
      responseTrailers: ['HttpTrailers', 7],
      metadataContext: ['Metadata', 8],
    },
    { request: PARTS },
  ),
  HeaderMutation: HEADER_MUTATION,
  BodyMutation: message({ body: ['bytes', 1], clearBody: ['bool', 2] }, { mutation: ['body', 'clearBody'] }),
  CommonResponse: message({
    status: ['int32', 1],
    headerMutation: ['HeaderMutation', 2],
    bodyMutation: ['BodyMutation', 3],
    clearRouteCache: ['bool', 5],
  }),
  PartResponse: message({ response: ['CommonResponse', 1] }),
  TrailersResponse: message({ headerMutation: ['HeaderMutation', 1] }),
  ImmediateResponse: message({
    status: ['HttpStatus', 1],
    headers: ['HeaderMutation', 2],
    body: ['bytes', 3],
    grpcStatus: ['GrpcStatus', 4],
    details: ['string', 5],
  }),
  ProcessingMode: message({
    requestHeaderMode: ['int32', 1],
    responseHeaderMode: ['int32', 2],
    requestBodyMode: ['int32', 3],
    responseBodyMode: ['int32', 4],
    requestTrailerMode: ['int32', 5],
    responseTrailerMode: ['int32', 6],
  }),
  ProcessingResponse: message(
    {
      requestHeaders: ['PartResponse', 1],
      responseHeaders: ['PartResponse', 2],
      requestBody: ['PartResponse', 3],
      responseBody: ['PartResponse', 4],
      requestTrailers: ['TrailersResponse', 5],
      responseTrailers: ['TrailersResponse', 6],
      immediateResponse: ['ImmediateResponse', 7],
      modeOverride: ['ProcessingMode', 9],
      overrideMessageTimeout: ['Duration', 10],
    },
    { response: [...PARTS, 'immediateResponse'] },
  ),
  ExternalProcessor: {
    methods: {
      Process: {
        requestType: 'ProcessingRequest',
        requestStream: true,
        responseType: 'ProcessingResponse',
        responseStream: true,
      },
    },
  },
};

/** The client of the service `envoy.service.ext_proc.v3.ExternalProcessor`; its `service` is used to create a server. */
export const ExternalProcessor = grpcService('envoy.service.ext_proc.v3', 'ExternalProcessor', EXT_PROC_V3);
