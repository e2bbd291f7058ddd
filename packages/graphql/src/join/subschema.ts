import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { ExecutableApi } from '../api/executable-api.ts';

export type TypeMerges = NonNullable<
  NonNullable<NonNullable<GraphQLApiSpec['stitchedSchema']>['subschemas']>[number]['typeMerge']
>;

/** One API that is joined with others. */
export interface Subschema {
  /** For messages, e.g. `gw-system.users`. */
  readonly name: string;
  readonly api: ExecutableApi;
  /** How types of other APIs are completed by this one, by type. */
  readonly typeMerge?: TypeMerges;
}
