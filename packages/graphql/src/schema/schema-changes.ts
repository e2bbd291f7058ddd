import { diff, DiffRule, type Rule } from '@graphql-inspector/core';
import type { GraphQLSchema } from 'graphql';
import { readSchema } from './read-schema.ts';

/** One difference between two schemas. */
export interface SchemaChange {
  readonly level: 'breaking' | 'dangerous' | 'safe';
  /** E.g. `Query.todo.id`. */
  readonly path: string;
  readonly message: string;
}

/** Names of the rules in Settings `graphqlOptions.schemaChangeValidationOptions.processingRules`. */
export const CHANGE_RULES = {
  RULE_DANGEROUS_TO_BREAKING: DiffRule.dangerousBreaking,
  RULE_DEPRECATED_FIELD_REMOVAL_DANGEROUS: DiffRule.suppressRemovalOfDeprecatedField,
  RULE_IGNORE_DESCRIPTION_CHANGES: ({ changes }) => changes.filter(({ type }) => !/_DESCRIPTION_/.test(type)),
  RULE_IGNORE_UNREACHABLE: DiffRule.safeUnreachable,
} as const satisfies Record<string, Rule>;
/** One of the rules of {@link CHANGE_RULES}. */
export type ChangeRule = keyof typeof CHANGE_RULES;

const LEVELS = { BREAKING: 'breaking', DANGEROUS: 'dangerous', NON_BREAKING: 'safe' } as const;
const ORDER = ['breaking', 'dangerous', 'safe'];

/** Returns the differences between two schemas, breaking ones first. */
export async function compareSchemas(
  before: GraphQLSchema,
  after: GraphQLSchema,
  rules: readonly ChangeRule[] = [],
): Promise<SchemaChange[]> {
  // In the order of the list above, so that the result does not depend on the order in the Settings.
  const chosen = Object.entries(CHANGE_RULES).flatMap(([name, rule]) =>
    rules.includes(name as ChangeRule) ? [rule] : [],
  );
  const changes = await diff(before, after, chosen.toReversed());
  return changes
    .map(({ criticality, path, message }): SchemaChange => ({
      level: LEVELS[criticality.level],
      path: path ?? '',
      message,
    }))
    .sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
}

/** Reads a schema definition, with or without `@resolve` and `@cacheControl`. Throws an `Error` that says what is wrong. */
export function readSchemaText(text: string): GraphQLSchema {
  return readSchema(text).schema;
}
