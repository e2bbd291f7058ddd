import '@edge-gateway/core/supported-node';
export { applyReceived, type Applied, type ApplyState } from './apply-received.ts';
export { createStateDecoder, type DecodedState, type StateDecoder } from './decode-state.ts';
export { createStateEncoder, type ProxyState, type StateEncoder } from './encode-state.ts';
export {
  differenceFrom,
  differenceOf,
  NO_RESOURCES,
  type EncodedResource,
  type ReceivedResource,
  type ResourceDifference,
  type ResourceSet,
  type SavedResource,
  type TypedResources,
} from './resource-set.ts';
export { RESOURCE_TYPES, TYPE, typeName, type ResourceType } from './resource-type.ts';
export { secretsOf } from './secret-reference.ts';
