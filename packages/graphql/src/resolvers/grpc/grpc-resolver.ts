import { isConstant, type Template } from '../../template/expression.ts';
import { parseHeader, renderHeader } from '../../template/render.ts';
import { createGrpcCaller, type GrpcParts, type GrpcResolver } from './grpc-call.ts';
import { rootsOf, type Resolver } from '../resolver.ts';
import { compileJson } from '../rest/rest-request.ts';

/** Excludes names that are reserved for gRPC. */
const METADATA_NAME = /^(?!grpc-)[0-9a-z_.-]+(?<!-bin)$/;

/** Compiles a resolver that calls a gRPC service. Throws an `Error` that says what is wrong. */
export function compileGrpc(grpc: GrpcResolver, name: string, parts: GrpcParts): Resolver {
  const { outgoingMessageJson = {}, requestMetadata = {} } = grpc.requestTransform ?? {};
  const ask = createGrpcCaller(grpc, name, parts);
  const message = compileJson(outgoingMessageJson);
  const metadata = compileMetadata(requestMetadata);
  return {
    usesClient: message.usesClient || metadata.some(([, template]) => !isConstant(template)),
    resolve(parent, args, run) {
      const roots = rootsOf(parent, args, run);
      const sent = metadata.map(([key, template]) => [key, renderHeader(template, roots)] as const);
      return ask({ json: message.render(roots), metadata: sent }, run);
    },
  };
}

/** Parses the templates of metadata. Throws an `Error` that says what is wrong. */
export function compileMetadata(written: Readonly<Record<string, string>>): (readonly [string, Template])[] {
  return Object.entries(written).map(([key, text]) => {
    if (!METADATA_NAME.test(key.toLowerCase())) throw new Error(`'${key}' cannot be a metadata key here`);
    return [key.toLowerCase(), parseHeader(text)] as const;
  });
}
