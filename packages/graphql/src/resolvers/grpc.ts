import type { ResourceRef } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import type protobuf from 'protobufjs';
import { rootOfDescriptorSet } from '../discover/descriptor-set.ts';
import { reflect } from '../discover/grpc-reflection.ts';
import { isConstant, parseTemplate } from '../expression.ts';
import { FieldFailure } from '../field-failure.ts';
import type { Run } from '../execute/run.ts';
import type { GrpcChannel } from '../grpc/channel.ts';
import { methodTypes, type MethodTypes } from '../grpc/descriptors.ts';
import { jsonOf, messageOf } from '../grpc/message-json.ts';
import { retryingGrpc } from '../grpc/retrying.ts';
import { GrpcFailure } from '../grpc/unary.ts';
import { renderHeader } from '../render.ts';
import { serverOf } from '../trace/http-call.ts';
import { callKind, traced, type TracedCall } from '../trace/span.ts';
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
  /** Connections to an upstream; all resolvers of an API share them. */
  channelTo(upstream: ResourceRef): GrpcChannel;
}

/** Compiles a resolver that calls a gRPC service. Throws an `Error` that says what is wrong. */
export function compileGrpc(
  grpc: GrpcResolver,
  name: string,
  { context, descriptors, channelTo }: GrpcParts,
): Resolver {
  const {
    serviceName = '',
    methodName = '',
    outgoingMessageJson = {},
    requestMetadata = {},
  } = grpc.requestTransform ?? {};
  if (!serviceName || !methodName) throw new Error('requestTransform needs serviceName and methodName');
  const upstream = upstreamOf(grpc.upstreamRef, context);
  const channel = channelTo(upstream);
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

  const kind = callKind(grpc.spanName || name, {
    'rpc.system': 'grpc',
    'rpc.service': serviceName,
    'rpc.method': methodName,
  });

  async function call(json: unknown, sent: Pairs, { run, trace }: Under): Promise<unknown> {
    const { signal } = run.calls;
    trace?.span.setAttributes(serverOf({ upstream, find: context.findUpstream }));
    const own = trace ? sent.filter(([key]) => !trace.carried.some(([carried]) => carried === key)) : sent;
    try {
      const { request, response } = await typesOf(timeoutMs());
      const message = request.encode(messageOf(request, json)).finish();
      const metadata = trace ? [...own, ...trace.carried] : own;
      const retry = { policy: run.request.retries, repeatable: isQuery(run) };
      const asked = { path, message, metadata, timeoutMs: timeoutMs(), signal };
      const bytes = await retryingGrpc(asked, retry, (attempt) => channel.call(attempt));
      trace?.span.setAttribute('rpc.grpc.status_code', 0);
      return jsonOf(response, bytes);
    } catch (error) {
      counts.failed.value++;
      if (error instanceof GrpcFailure) trace?.span.setAttribute('rpc.grpc.status_code', error.status);
      if (error instanceof FieldFailure) throw error;
      throw new FieldFailure(`${upstream.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    usesClient: message.usesClient || metadata.some(([, template]) => !isConstant(template)),
    resolve(parent, args, run) {
      counts.total.value++;
      const roots = rootsOf(parent, args, run);
      const json = message.render(roots);
      const sent = metadata.map(([key, template]) => [key, renderHeader(template, roots)] as const);
      const key = isQuery(run) ? `${where} ${path} ${JSON.stringify([sent, json])}` : undefined;
      return run.calls.once(key, () => traced(kind, run.trace, (trace) => call(json, sent, { run, trace })));
    },
  };
}

type Pairs = readonly (readonly [string, string])[];

/** What a call is made under. */
interface Under {
  readonly run: Run;
  readonly trace: TracedCall | undefined;
}

function isQuery({ request }: Run): boolean {
  return request.operation.definition.operation === 'query';
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
  const { address, credentials, serverName } = channel.next();
  const { descriptorSet } = await reflect(address, { credentials, timeoutMs, ...(serverName && { serverName }) });
  return rootOfDescriptorSet(descriptorSet);
}
