import type { Finding, ResourceCheck } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { GraphQLError } from 'graphql';
import { readSchema } from './schema.ts';

/** Characters of what is told of one definition. */
const MAX_MESSAGE = 300;

/**
 * Refuses GraphQLApis whose schema definition does not parse or is no valid schema, with line and column inside it.
 *
 * @example
 * createControlPlane({ source: directorySource('resources'), checks: [graphqlApiCheck] });
 */
export const graphqlApiCheck: ResourceCheck = {
  kind: 'GraphQLApi',
  check({ executableSchema }: GraphQLApiSpec, at) {
    const problem = problemOf(executableSchema?.schemaDefinition ?? '');
    if (!problem) return [];
    return [{ code: 'INVALID_GRAPHQL_API', path: [...at, 'executableSchema', 'schemaDefinition'], ...problem }];
  },
};

/** What is wrong with a definition, and where in it; one that is empty is none of ours. */
function problemOf(definition: string): Pick<Finding, 'message' | 'place'> | undefined {
  if (definition.trim() === '') return undefined;
  try {
    readSchema(definition);
    return undefined;
  } catch (error) {
    const said = (error as Error).message.split('\n', 1)[0]!.slice(0, MAX_MESSAGE);
    const [place] = (error instanceof GraphQLError && error.locations) || [];
    if (!place) return { message: said };
    return { message: `line ${place.line}, column ${place.column} of the definition: ${said}`, place };
  }
}
