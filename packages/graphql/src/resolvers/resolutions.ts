import { clusterName, type ResourceRef } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import { createGrpcChannel, type GrpcChannel } from './grpc/channel.ts';
import { readDescriptors, type Registry } from './grpc/descriptors.ts';
import { compileBatched } from './rest/batched.ts';
import { compileGrpc, type GrpcParts } from './grpc/grpc-resolver.ts';
import { compileMock } from './mock.ts';
import type { Resolver, ResolverContext } from './resolver.ts';
import { compileRest } from './rest/rest-resolver.ts';

export interface Resolvers extends ReadonlyMap<string, Resolver> {
  close(): void;
}

/** Compiles resolutions. Throws an `Error` that names an invalid one. */
export function compileResolutions(
  resolutions: Readonly<Record<string, Resolution>>,
  registry: Registry,
  context: ResolverContext,
): Resolvers {
  const channels = new Map<string, GrpcChannel>();
  const parts: GrpcParts = {
    context,
    descriptors: readDescriptors(registry, context.descriptorSets),
    channelTo(upstream) {
      const place = clusterName(upstream);
      let channel = channels.get(place);
      if (!channel) channels.set(place, (channel = channelOf(upstream, context)));
      return channel;
    },
  };
  const resolvers = new Map<string, Resolver>();
  for (const [name, resolution] of Object.entries(resolutions)) {
    try {
      resolvers.set(name, compileOne(resolution, resolution.statPrefix || name, parts));
    } catch (error) {
      throw new Error(`resolution '${name}': ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  return Object.assign(resolvers, {
    close: () => {
      for (const channel of channels.values()) channel.close();
    },
  });
}

function channelOf(upstream: ResourceRef, { findUpstream, secrets, limits }: ResolverContext): GrpcChannel {
  return createGrpcChannel(() => findUpstream?.(upstream), { secrets, maxBytes: limits.maxResponseBytes });
}

function compileOne(resolution: Resolution, name: string, parts: GrpcParts): Resolver {
  const { restResolver, grpcResolver, mockResolver } = resolution;
  if (restResolver?.batch) return compileBatched(restResolver, name, parts.context);
  if (restResolver) return compileRest(restResolver, name, parts.context);
  if (grpcResolver) return compileGrpc(grpcResolver, name, parts);
  if (mockResolver) return { resolve: compileMock(mockResolver), usesClient: false };
  throw new Error('it has neither restResolver, grpcResolver nor mockResolver');
}
