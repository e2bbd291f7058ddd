import { createRequire } from 'node:module';
import type { ActionKind, Context, ResourceCheck, SnapshotGraphQLApi } from '@edge-gateway/core';
import type { Explorer, GraphQLActionOptions } from '@edge-gateway/graphql';

type GraphQLPackage = typeof import('@edge-gateway/graphql');
type DescriptorFiles = ReturnType<GraphQLPackage['descriptorFiles']>;

const require = createRequire(import.meta.url);
let loaded: GraphQLPackage | undefined;

/**
 * Loads the package at the first call. Its modules, a fifth of those of the program, are needed only by configurations with GraphQL. Synchronous,
 * because checks and actions are.
 */
export function graphqlPackage(): GraphQLPackage {
  return (loaded ??= require('@edge-gateway/graphql') as GraphQLPackage);
}

/** `graphqlApiCheck`, which loads the package for the first GraphQLApi. */
export const lazyGraphQLCheck: ResourceCheck = {
  kind: 'GraphQLApi',
  check: (spec, path) => graphqlPackage().graphqlApiCheck.check(spec, path),
};

/** `descriptorFiles`, which loads the package for the first GraphQLApi. */
export function lazyDescriptorFiles(directory: string): DescriptorFiles {
  let created: DescriptorFiles | undefined;
  const files = (): DescriptorFiles => (created ??= graphqlPackage().descriptorFiles(directory));
  return {
    name: 'descriptor',
    logger: 'graphql',
    kinds: ['GraphQLApi'],
    filesOf: (resource) => files().filesOf(resource),
    keyOf: (named) => files().keyOf(named),
    pathsOf: (named) => files().pathsOf(named),
    read: (named) => files().read(named),
    observedOf: (content) => files().observedOf!(content),
  };
}

/** `graphqlAction`, which loads the package for the first route with a GraphQLApi. `options` is called then. */
export function lazyGraphQLAction(options: () => GraphQLActionOptions): ActionKind {
  let created: ActionKind | undefined;
  return {
    action: 'graphql',
    compile: (...args) => (created ??= graphqlPackage().graphqlAction(options())).compile(...args),
  };
}

/** `createExplorer`, which loads the package when there is an API. */
export function lazyExplorer(
  served: () => readonly SnapshotGraphQLApi[],
  context: Context,
  options: GraphQLActionOptions,
): Explorer {
  let created: Explorer | undefined;
  const explorer = (): Explorer => (created ??= graphqlPackage().createExplorer(served, context, options));
  const isNeeded = (): boolean => created !== undefined || served().length > 0;
  return {
    apis: () => (isNeeded() ? explorer().apis() : []),
    serve: (api) => (isNeeded() ? explorer().serve(api) : undefined),
    example: async (api, req) => (isNeeded() ? explorer().example(api, req) : undefined),
    close: async () => created?.close(),
  };
}
