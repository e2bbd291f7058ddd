/**
 * Names of gRPC statuses in the order of their numbers, as access log filters have them.
 *
 * @example
 * GRPC_STATUSES[14]; // 'UNAVAILABLE'
 */
export const GRPC_STATUSES: readonly string[] = [
  'OK',
  'CANCELED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];
