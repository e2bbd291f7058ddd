/** Returns true for the media types of gRPC, e.g. `application/grpc+proto`, and of gRPC-Web. */
export function isGrpcType(contentType: string | undefined): boolean {
  return /^application\/grpc(?:$|[-+; ])/i.test(contentType ?? '');
}
