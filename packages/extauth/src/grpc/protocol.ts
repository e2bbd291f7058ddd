import type { ServiceClientConstructor } from '@grpc/grpc-js';
import { grpcService, message, STRUCT_MESSAGES, type ProtoStruct } from '@edge-gateway/core/grpc';

/** The part of Envoy's `ext_authz` protocol, version 3, that is used here, with the names and numbers on the wire. */
const AUTH_V3 = {
  ...STRUCT_MESSAGES,
  BoolValue: message({ value: ['bool', 1] }),
  SocketAddress: message({ address: ['string', 2], portValue: ['uint32', 3] }),
  Address: message({ socketAddress: ['SocketAddress', 1] }),
  Peer: message({ address: ['Address', 1], principal: ['string', 4] }),
  Timestamp: message({ seconds: ['int64', 1], nanos: ['int32', 2] }),
  HttpRequest: message({
    id: ['string', 1],
    method: ['string', 2],
    headers: ['string', 3, 'map'],
    path: ['string', 4],
    host: ['string', 5],
    scheme: ['string', 6],
    query: ['string', 7],
    fragment: ['string', 8],
    size: ['int64', 9],
    protocol: ['string', 10],
    body: ['string', 11],
    rawBody: ['bytes', 12],
    headerMap: ['HeaderMap', 13],
  }),
  HeaderMap: message({ headers: ['HeaderValue', 1, 'repeated'] }),
  Request: message({ time: ['Timestamp', 1], http: ['HttpRequest', 2] }),
  Metadata: message({ filterMetadata: ['Struct', 1, 'map'] }),
  AttributeContext: message({
    source: ['Peer', 1],
    destination: ['Peer', 2],
    request: ['Request', 4],
    contextExtensions: ['string', 10, 'map'],
    metadataContext: ['Metadata', 11],
    tlsSession: ['TlsSession', 12],
  }),
  TlsSession: message({ sni: ['string', 1] }),
  CheckRequest: message({ attributes: ['AttributeContext', 1] }),
  Status: message({ code: ['int32', 1], message: ['string', 2] }),
  HttpStatus: message({ code: ['int32', 1] }),
  HeaderValue: message({ key: ['string', 1], value: ['string', 2], rawValue: ['bytes', 3] }),
  HeaderValueOption: message({ header: ['HeaderValue', 1], append: ['BoolValue', 2], appendAction: ['int32', 3] }),
  QueryParameter: message({ key: ['string', 1], value: ['string', 2] }),
  DeniedHttpResponse: message({
    status: ['HttpStatus', 1],
    headers: ['HeaderValueOption', 2, 'repeated'],
    body: ['string', 3],
  }),
  OkHttpResponse: message({
    headers: ['HeaderValueOption', 2, 'repeated'],
    dynamicMetadata: ['Struct', 3],
    headersToRemove: ['string', 5, 'repeated'],
    responseHeadersToAdd: ['HeaderValueOption', 6, 'repeated'],
    queryParametersToSet: ['QueryParameter', 7, 'repeated'],
    queryParametersToRemove: ['string', 8, 'repeated'],
  }),
  CheckResponse: message(
    {
      status: ['Status', 1],
      deniedResponse: ['DeniedHttpResponse', 2],
      okResponse: ['OkHttpResponse', 3],
      dynamicMetadata: ['Struct', 4],
    },
    { httpResponse: ['deniedResponse', 'okResponse'] },
  ),
  Authorization: {
    methods: { Check: { requestType: 'CheckRequest', responseType: 'CheckResponse' } },
  },
};

let created: ServiceClientConstructor | undefined;

/** The client of the service `envoy.service.auth.v3.Authorization`; its `service` is used to create a server. */
export const authorization = (): ServiceClientConstructor =>
  (created ??= grpcService('envoy.service.auth.v3', 'Authorization', AUTH_V3));

/** `HeaderAppendAction` on the wire. */
export const APPEND = 0;
export const ADD_IF_ABSENT = 1;
export const OVERWRITE = 2;
export const OVERWRITE_IF_EXISTS = 3;

/**
 * `status.message` of a denial with a success status that is intended, such as a page after a logout. Our auth service sends it to our gateway; Envoy
 * ignores it.
 */
export const INTENDED_SUCCESS = 'edge-gateway: success status is intended';
/** The same over HTTP, where 200 would allow the request: a header of the denial with its real status. */
export const INTENDED_STATUS_HEADER = 'x-edge-gateway-denied-status';

/** One end of the connection of a request. */
export interface Peer {
  readonly address: { readonly socketAddress: { readonly address: string; readonly portValue: number } };
  /** Name in the certificate of this end. */
  readonly principal?: string;
}

/** Request to a server. */
export interface CheckRequest {
  readonly attributes: {
    readonly source: Peer;
    readonly destination: Peer;
    readonly request: {
      readonly time: { readonly seconds: number; readonly nanos: number };
      readonly http: HttpRequest;
    };
    readonly contextExtensions: Readonly<Record<string, string>>;
    readonly metadataContext: { readonly filterMetadata: Readonly<Record<string, ProtoStruct>> };
    readonly tlsSession?: { readonly sni: string };
  };
}

interface HttpRequest {
  readonly id: string;
  readonly method: string;
  /** Several values joined with `,` (cookies with `; `); `:authority`, `:method`, `:path` and `:scheme` are among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** With query. */
  readonly path: string;
  readonly host: string;
  readonly scheme: string;
  /** Of the body that is sent, in bytes; -1 without one. */
  readonly size: number;
  readonly protocol: string;
  readonly body?: string | undefined;
  readonly rawBody?: Buffer | undefined;
  /** Instead of `headers`, with each value on its own (`encode_raw_headers`). */
  readonly headerMap?: { readonly headers: readonly HeaderText[] };
}

/** A header; `rawValue` is used if `value` is empty. */
export interface HeaderText {
  readonly key: string;
  readonly value: string;
  readonly rawValue?: Buffer;
}

export interface HeaderOption {
  readonly header: HeaderText | null;
  readonly append?: { readonly value: boolean } | null;
  readonly appendAction?: number;
}

/** Response of a server that allows a request. */
export interface OkResponse {
  readonly headers: readonly HeaderOption[];
  readonly headersToRemove: readonly string[];
  readonly responseHeadersToAdd: readonly HeaderOption[];
  readonly queryParametersToSet: readonly { readonly key: string; readonly value: string }[];
  readonly queryParametersToRemove: readonly string[];
  /** Deprecated; takes precedence over that of the response. */
  readonly dynamicMetadata?: ProtoStruct | null;
}

/** Response of a server. */
export interface CheckResponse {
  readonly status: { readonly code: number; readonly message: string } | null;
  readonly httpResponse?: 'deniedResponse' | 'okResponse';
  readonly deniedResponse?: {
    readonly status: { readonly code: number } | null;
    readonly headers: readonly HeaderOption[];
    readonly body: string;
  } | null;
  readonly okResponse?: OkResponse | null;
  readonly dynamicMetadata?: ProtoStruct | null;
}
