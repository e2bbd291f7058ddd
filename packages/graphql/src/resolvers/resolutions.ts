import type { GraphQLApiSpec, Resolution } from '@edge-gateway/core/schema';
import { compileMock } from './mock.ts';
import type { Resolver, ResolverContext } from './resolver.ts';
import { compileRest } from './rest.ts';

type Registry = NonNullable<GraphQLApiSpec['executableSchema']>['grpcDescriptorRegistry'];

/** The resolvers of an API by name. */
export interface Resolvers extends ReadonlyMap<string, Resolver> {
  close(): void;
}

/** Compiles resolutions. Throws an `Error` that names the one that cannot be used. */
export function compileResolutions(
  resolutions: Readonly<Record<string, Resolution>>,
  registry: Registry,
  context: ResolverContext,
): Resolvers {
  const resolvers = new Map<string, Resolver>();
  for (const [name, resolution] of Object.entries(resolutions)) {
    try {
      resolvers.set(name, compileOne(resolution, resolution.statPrefix || name, { registry, context }));
    } catch (error) {
      throw new Error(`resolution '${name}': ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  return Object.assign(resolvers, {
    close: () => {
      for (const resolver of resolvers.values()) resolver.close?.();
    },
  });
}

interface OneContext {
  readonly registry: Registry;
  readonly context: ResolverContext;
}

function compileOne(resolution: Resolution, name: string, { context }: OneContext): Resolver {
  const { restResolver, mockResolver } = resolution;
  if (restResolver) return compileRest(restResolver, name, context);
  if (mockResolver) return { resolve: compileMock(mockResolver), usesClient: false };
  throw new Error('it has neither restResolver, grpcResolver nor mockResolver');
}
