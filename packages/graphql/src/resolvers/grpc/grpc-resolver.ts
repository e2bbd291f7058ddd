import type { Registry } from '@bufbuild/protobuf';
import type { ResourceRef } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import { reflect } from './reflection.ts';
import { FieldFailure } from '../../errors/field-failure.ts';
import type { GrpcChannel } from './channel.ts';
import { methodTypes, type MethodTypes } from './descriptors.ts';
import { decodeJson, encodeJson } from './message-json.ts';
import { messageRegistry } from '@edge-gateway/core/descriptors';
import { retryingGrpc } from './retrying.ts';
import { GrpcFailure } from './unary.ts';
import { serverOf } from '../../observe/http-call.ts';
import { callKind, traced, type TracedCall } from '../../observe/span.ts';
import {
  rootsOf,
  timeoutFinder,
  upstreamOf,
  type Resolver,
  type ResolverContext,
  type ResolverRun,
} from '../resolver.ts';
import { compileJson } from '../rest/rest-request.ts';
import { isConstant, type Template } from '../../template/expression.ts';
import { parseHeader, renderHeader } from '../../template/render.ts';

type GrpcResolver = NonNullable<Resolution['grpcResolver']>;

export interface GrpcParts {
  readonly context: ResolverContext;
  /** Configured descriptors; without them reflection is used at the first call. */
  readonly descriptors: readonly Registry[] | undefined;
  /** Connections to an upstream; all resolvers of an API share them. */
  channelTo(upstream: ResourceRef): GrpcChannel;
}

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

interface GrpcRequest {
  readonly json: unknown;
  readonly metadata: readonly (readonly [string, string])[];
}

/** Makes a call of one method. Equal calls of a query are made once. */
type AskGrpc = (request: GrpcRequest, run: ResolverRun) => Promise<unknown>;

function createGrpcCaller(grpc: GrpcResolver, name: string, parts: GrpcParts): AskGrpc {
  const { context, descriptors, channelTo } = parts;
  const { serviceName = '', methodName = '' } = grpc.requestTransform ?? {};
  if (!serviceName || !methodName) throw new Error('requestTransform needs serviceName and methodName');
  const upstream = upstreamOf(grpc.upstreamRef, context);
  const channel = channelTo(upstream);
  const typesOf = typesFinder([serviceName, methodName], channel, descriptors);
  const counts = context.countsOf(name);
  const timeoutMs = timeoutFinder(grpc.timeout, upstream, context);
  const path = `/${serviceName}/${methodName}`;
  const where = `${upstream.namespace} ${upstream.name} ${path}`;
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': serviceName, 'rpc.method': methodName };
  const kind = callKind(grpc.spanName || name, attributes);

  async function call(
    { json, metadata }: GrpcRequest,
    run: ResolverRun,
    trace: TracedCall | undefined,
  ): Promise<unknown> {
    trace?.tag(serverOf({ upstream, find: context.findUpstream }));
    try {
      const { request, response, types } = await typesOf(timeoutMs());
      const message = encodeJson(request, json, types);
      const sent = trace ? carryingMetadata(metadata, trace) : metadata;
      const retry = { policy: run.retries, repeatable: isQuery(run) };
      const asked = { path, message, metadata: sent, timeoutMs: timeoutMs(), signal: run.calls.signal };
      const bytes = await retryingGrpc(asked, retry, (attempt) => channel.call(attempt));
      trace?.tag({ 'rpc.grpc.status_code': 0 });
      return decodeJson(response, bytes, types);
    } catch (error) {
      counts.failed.value++;
      if (error instanceof GrpcFailure) trace?.tag({ 'rpc.grpc.status_code': error.status });
      if (error instanceof FieldFailure) throw error;
      throw new FieldFailure(`${upstream.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return (request, run) => {
    counts.total.value++;
    const make = (): Promise<unknown> => traced(kind, run.trace, (trace) => call(request, run, trace));
    if (!isQuery(run)) return run.calls.make(make);
    return run.calls.once(where, JSON.stringify([request.metadata, request.json]), make);
  };
}

function carryingMetadata(own: GrpcRequest['metadata'], { carried }: TracedCall): GrpcRequest['metadata'] {
  return [...own.filter(([key]) => !carried.some(([name]) => name === key)), ...carried];
}

function isQuery({ operation }: ResolverRun): boolean {
  return operation === 'query';
}

/** Returns the types of a method. Reflection is used once, and again after a failure. */
function typesFinder(
  method: readonly [service: string, method: string],
  channel: GrpcChannel,
  descriptors: GrpcParts['descriptors'],
): (timeoutMs: number) => Promise<MethodTypes> {
  if (descriptors) {
    const types = Promise.resolve(methodTypes(descriptors, ...method));
    return () => types;
  }
  let asked: Promise<MethodTypes> | undefined;
  return (timeoutMs) => {
    asked ??= reflected(channel, timeoutMs)
      .then((registry) => methodTypes([registry], ...method))
      .catch((error: unknown) => {
        asked = undefined;
        throw error;
      });
    return asked;
  };
}

async function reflected(channel: GrpcChannel, timeoutMs: number): Promise<Registry> {
  const { address, credentials, serverName } = channel.next();
  const { descriptorSet } = await reflect(address, { credentials, timeoutMs, ...(serverName && { serverName }) });
  return messageRegistry(descriptorSet);
}
