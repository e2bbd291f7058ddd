import { KINDS } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';

type Declared = NonNullable<NonNullable<GraphQLApiSpec['options']>['limits']>;

/** Limits of requests and connections: `options.limits` of a GraphQLApi, whose reference describes each. */
export interface Limits extends Required<Declared> {}

interface Field {
  readonly default: number;
  readonly properties: Readonly<Record<string, Field>>;
}

const { options } = (KINDS.get('GraphQLApi')!.schema as unknown as Field).properties;
const fields = Object.entries(options!.properties['limits']!.properties);

/** The limits that apply by default. */
export const DEFAULT_LIMITS = Object.freeze(
  Object.fromEntries(fields.map(([name, field]) => [name, field.default])),
) as unknown as Limits;

/** Returns the defaults with the given limits. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_LIMITS, ...(Object.fromEntries(entries) as Partial<Limits>) };
}
