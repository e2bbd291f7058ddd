import type { Resolution } from '@edge-gateway/core/schema';
import type protobuf from 'protobufjs';
import { rootOfDescriptorSet } from '../discover/descriptor-set.ts';
import { reflect } from '../discover/grpc-reflection.ts';
import { isConstant, parseTemplate } from '../expression.ts';
import { FieldFailure } from '../field-failure.ts';
import type { Run } from '../execute/run.ts';
import { createGrpcChannel, type GrpcChannel } from '../grpc/channel.ts';
import { methodTypes, type MethodTypes } from '../grpc/descriptors.ts';
import { jsonOf, messageOf } from '../grpc/message-json.ts';
import { renderHeader } from '../render.ts';
import { rootsOf, type Resolver, type ResolverContext } from './resolver.ts';
import { compileJson } from './rest-request.ts';
import { timeoutFinder, upstreamOf } from './rest.ts';

type GrpcResolver = NonNullable<Resolution['grpcResolver']>;

/** Names that gRPC itself uses are not for resolvers. */
const METADATA_NAME = /^(?!grpc-)[0-9a-z_.-]+(?<!-bin)$/;

/** What a gRPC resolver takes from its API. */
export interface GrpcParts {
  readonly context: ResolverContext;
  /** Descriptors that were given; without them the server is asked by reflection, at the first use. */
  readonly descriptors: readonly protobuf.Root[] | undefined;
}

/** Compiles a resolver that calls a gRPC service. Throws an `Error` that says what is wrong. */
export function compileGrpc(grpc: GrpcResolver, name: string, { context, descriptors }: GrpcParts): Resolver {
  const {
    serviceName = '',
    methodName = '',
    outgoingMessageJson = {},
    requestMetadata = {},
  } = grpc.requestTransform ?? {};
  if (!serviceName || !methodName) throw new Error('requestTransform needs serviceName and methodName');
  const upstream = upstreamOf(grpc.upstreamRef, context);
  const channel = createGrpcChannel(() => context.findUpstream?.(upstream), {
    secrets: context.secrets,
    maxBytes: context.limits.maxResponseBytes,
  });
  const typesOf = typesFinder({ serviceName, methodName, channel }, descriptors);
  const message = compileJson(outgoingMessageJson);
  const metadata = Object.entries(requestMetadata).map(([key, text]) => {
    if (!METADATA_NAME.test(key.toLowerCase())) throw new Error(`'${key}' cannot be a metadata key here`);
    return [key.toLowerCase(), parseTemplate(text)] as const;
  });
  const counts = context.countsOf(name);
  const timeoutMs = timeoutFinder(grpc.timeout, upstream, context);
  const path = `/${serviceName}/${methodName}`;
  const where = `${upstream.namespace} ${upstream.name}`;

  async function call(json: unknown, sent: readonly (readonly [string, string])[], run: Run): Promise<unknown> {
    const { signal } = run.calls;
    try {
      const { request, response } = await typesOf(timeoutMs());
      const bytes = request.encode(messageOf(request, json)).finish();
      return jsonOf(
        response,
        await channel.call({ path, message: bytes, metadata: sent, timeoutMs: timeoutMs(), signal }),
      );
    } catch (error) {
      counts.failed.value++;
      if (error instanceof FieldFailure) throw error;
      throw new FieldFailure(`${upstream.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    usesClient: message.usesClient || metadata.some(([, template]) => !isConstant(template)),
    close: () => channel.close(),
    resolve(parent, args, run) {
      counts.total.value++;
      const roots = rootsOf(parent, args, run);
      const json = message.render(roots);
      const sent = metadata.map(([key, template]) => [key, renderHeader(template, roots)] as const);
      const isQuery = run.request.operation.definition.operation === 'query';
      const key = isQuery ? `${where} ${path} ${JSON.stringify([sent, json])}` : undefined;
      return run.calls.once(key, () => call(json, sent, run));
    },
  };
}

interface MethodPlace {
  readonly serviceName: string;
  readonly methodName: string;
  readonly channel: GrpcChannel;
}

/** Gives the types of a method. Reflection is asked once; where it fails, again at the next use. */
function typesFinder(
  { serviceName, methodName, channel }: MethodPlace,
  descriptors: GrpcParts['descriptors'],
): (timeoutMs: number) => Promise<MethodTypes> {
  if (descriptors) {
    const types = Promise.resolve(methodTypes(descriptors, serviceName, methodName));
    return () => types;
  }
  let asked: Promise<MethodTypes> | undefined;
  return (timeoutMs) => {
    asked ??= reflected(channel, timeoutMs)
      .then((root) => methodTypes([root], serviceName, methodName))
      .catch((error: unknown) => {
        asked = undefined;
        throw error;
      });
    return asked;
  };
}

async function reflected(channel: GrpcChannel, timeoutMs: number): Promise<protobuf.Root> {
  const { address, security } = channel.next();
  const { credentials, serverName } = security;
  const { descriptorSet } = await reflect(address, { credentials, timeoutMs, ...(serverName && { serverName }) });
  return rootOfDescriptorSet(descriptorSet);
}
