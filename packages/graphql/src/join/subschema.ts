import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { GraphQLSchema } from 'graphql';
import type { ExecutableApi } from '../execute/executable-api.ts';

type DeclaredJoin = NonNullable<NonNullable<GraphQLApiSpec['stitchedSchema']>['subschemas']>[number];

/** The declaration of an API that is joined with others. */
export interface DeclaredSubschema extends Pick<DeclaredJoin, 'typeMerge'> {
  /** For messages, e.g. `gw-system.users`. */
  readonly name: string;
  readonly api: Pick<ExecutableApi, 'schema' | 'subscribe'>;
}

export interface Subschema extends DeclaredSubschema {
  readonly api: ExecutableApi;
}

/** Returns true if a schema has this field of a type. */
export function hasField(schema: GraphQLSchema, type: string, field: string): boolean {
  const found = schema.getType(type);
  return found !== undefined && 'getFields' in found && Object.hasOwn(found.getFields(), field);
}

/** Returns the index of the subschema that a root field is asked of; -1 if none has it. */
export function rootOwner(subschemas: readonly DeclaredSubschema[], type: string, field: string): number {
  return subschemas.findIndex(({ api }) => hasField(api.schema, type, field));
}
