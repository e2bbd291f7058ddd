import type { ProtoStruct } from '@edge-gateway/core/grpc';
import { loadService } from './load-service.ts';

/** Name of the service on the wire. */
export const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';

/** Aggregated discovery, version 3: `StreamAggregatedResources` (state of the world) and `DeltaAggregatedResources`. */
export const AggregatedDiscovery = loadService('envoy/service/discovery/v3/ads.proto', ADS);

/** `google.protobuf.Any`. */
export interface AnyMessage {
  readonly type_url: string;
  readonly value: Uint8Array;
}

/** `google.rpc.Status`. */
export interface ErrorDetail {
  readonly code: number;
  readonly message: string;
  readonly details?: readonly AnyMessage[];
}

/** `envoy.config.core.v3.Node`, the fields that are used here. */
export interface NodeMessage {
  readonly id?: string;
  readonly cluster?: string;
  readonly metadata?: ProtoStruct | null;
  readonly user_agent_name?: string;
}

/** A request of the delta protocol: subscribes, acknowledges or rejects. */
export interface DeltaRequest {
  readonly node?: NodeMessage | null;
  readonly type_url: string;
  readonly resource_names_subscribe?: readonly string[];
  readonly resource_names_unsubscribe?: readonly string[];
  /** Versions that the client already has, by resource name; only in the first request of a type. */
  readonly initial_resource_versions?: Readonly<Record<string, string>>;
  readonly response_nonce?: string;
  readonly error_detail?: ErrorDetail | null;
}

/** A response of the delta protocol: what changed. */
export interface DeltaResponse {
  /** Version of all resources of the type. */
  readonly system_version_info: string;
  readonly resources: readonly { readonly name: string; readonly version: string; readonly resource: AnyMessage }[];
  readonly type_url: string;
  readonly removed_resources: readonly string[];
  readonly nonce: string;
}

/** A request of the state-of-the-world protocol. */
export interface WorldRequest {
  readonly node?: NodeMessage | null;
  readonly version_info?: string;
  readonly type_url: string;
  readonly resource_names?: readonly string[];
  readonly response_nonce?: string;
  readonly error_detail?: ErrorDetail | null;
}

/** A response of the state-of-the-world protocol: all requested resources of a type. */
export interface WorldResponse {
  readonly version_info: string;
  readonly resources: readonly AnyMessage[];
  readonly type_url: string;
  readonly nonce: string;
}
