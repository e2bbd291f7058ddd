/** The protocol of a gRPC request. */
export type GrpcKind = 'grpc' | 'web' | 'webText';

/** The protocol of a content type, and the format of its messages. */
export interface GrpcType {
  readonly kind: GrpcKind;
  /** `+proto`; empty if the type names none. */
  readonly format: string;
}

const TYPE = /^application\/grpc(-web(-text)?)?(\+[\w.-]{1,64})?$/i;

/**
 * Parses a gRPC or gRPC-Web `content-type`; `undefined` for other types.
 *
 * @example
 * grpcTypeOf('application/grpc-web+proto'); // { kind: 'web', format: '+proto' }
 */
export function grpcTypeOf(contentType: string): GrpcType | undefined {
  const found = TYPE.exec(contentType);
  if (!found) return undefined;
  const [, web, text, format = ''] = found;
  return { kind: web === undefined ? 'grpc' : text === undefined ? 'web' : 'webText', format };
}
