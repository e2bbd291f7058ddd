import type { ServiceClientConstructor } from '@grpc/grpc-js';
import { grpcService, message, STRUCT_MESSAGES, type ProtoStruct } from '@edge-gateway/core/grpc';

/** The part of Envoy's rate limit protocol, version 3, that is used here, with the names and numbers on the wire. */
const RATE_LIMIT_V3 = {
  ...STRUCT_MESSAGES,
  Entry: message({ key: ['string', 1], value: ['string', 2] }),
  RateLimitOverride: message({ requestsPerUnit: ['uint32', 1], unit: ['int32', 2] }),
  UInt64Value: message({ value: ['uint64', 1] }),
  RateLimitDescriptor: message({
    entries: ['Entry', 1, 'repeated'],
    limit: ['RateLimitOverride', 2],
    hitsAddend: ['UInt64Value', 3],
    isNegativeHits: ['bool', 4],
  }),
  RateLimitRequest: message({
    domain: ['string', 1],
    descriptors: ['RateLimitDescriptor', 2, 'repeated'],
    hitsAddend: ['uint32', 3],
  }),
  RateLimit: message({ requestsPerUnit: ['uint32', 1], unit: ['int32', 2], name: ['string', 3] }),
  Duration: message({ seconds: ['int64', 1], nanos: ['int32', 2] }),
  DescriptorStatus: message({
    code: ['int32', 1],
    currentLimit: ['RateLimit', 2],
    limitRemaining: ['uint32', 3],
    durationUntilReset: ['Duration', 4],
  }),
  RateLimitResponse: message({
    overallCode: ['int32', 1],
    statuses: ['DescriptorStatus', 2, 'repeated'],
    dynamicMetadata: ['Struct', 6],
  }),
  RateLimitService: {
    methods: { ShouldRateLimit: { requestType: 'RateLimitRequest', responseType: 'RateLimitResponse' } },
  },
};

/** Name of the service on the wire. */
export const SERVICE_NAME = 'envoy.service.ratelimit.v3.RateLimitService';

let created: ServiceClientConstructor | undefined;

/** The client of rate limit servers; its `service` is used to create a server. */
export const rateLimitService = (): ServiceClientConstructor =>
  (created ??= grpcService('envoy.service.ratelimit.v3', 'RateLimitService', RATE_LIMIT_V3));

/** `RateLimitResponse.Code` on the wire. */
export const OK = 1;
export const OVER_LIMIT = 2;

/** The largest number in a `uint32`. */
export const MAX_UINT32 = 4_294_967_295;

/** A descriptor on the wire; every part may be missing in a message that arrives. */
export interface WireDescriptor {
  readonly entries?: readonly { readonly key?: string; readonly value?: string }[];
  readonly limit?: { readonly requestsPerUnit?: number; readonly unit?: number } | null;
  /** Instead of that of the request; 0 reads the counter. */
  readonly hitsAddend?: { readonly value?: number } | null;
  readonly isNegativeHits?: boolean;
}

/** Asks whether a request is over a limit. */
export interface WireRequest {
  readonly domain?: string;
  readonly descriptors?: readonly WireDescriptor[];
  /** 0 counts as 1. */
  readonly hitsAddend?: number;
}

/** The state of a limit; without a limit, the descriptor is not limited. */
export interface WireStatus {
  readonly code?: number;
  readonly currentLimit?: { readonly requestsPerUnit?: number; readonly unit?: number; readonly name?: string } | null;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: { readonly seconds?: number; readonly nanos?: number } | null;
}

/** The response to a {@link WireRequest}. */
export interface WireResponse {
  readonly overallCode?: number;
  readonly statuses?: readonly WireStatus[];
  readonly dynamicMetadata?: ProtoStruct | null;
}
