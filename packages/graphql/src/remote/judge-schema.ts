import type { LearnedProblem } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { GraphQLSchema } from 'graphql';
import type { ChangePolicy } from './followed-schema.ts';
import { compareSchemas, type SchemaChange } from './schema-changes.ts';

/** How changes are told that a schema has made. */
export interface Judgement {
  /** The schema before is kept. */
  readonly refused: boolean;
  /** Breaking ones first. */
  readonly changes: readonly SchemaChange[];
}

/** Where the definition of an API is. */
export const SCHEMA_PATH = ['spec', 'executableSchema', 'schemaDefinition'] as const;
/** Changes of one schema that a status or the log lists. */
const MOST_TOLD = 20;

/** What the Settings say of changed schemas. */
export function changePolicyOf({ graphqlOptions }: SettingsSpec): ChangePolicy {
  return graphqlOptions?.schemaChangeValidationOptions ?? {};
}

/** Compares two schemas, and says whether the second may take the place of the first. */
export async function judgeSchemas(
  before: GraphQLSchema,
  after: GraphQLSchema,
  { rejectBreakingChanges = false, processingRules = [] }: ChangePolicy,
): Promise<Judgement> {
  const changes = await compareSchemas(before, after, processingRules);
  return { refused: rejectBreakingChanges && changes.some(({ level }) => level === 'breaking'), changes };
}

/**
 * What a status says of changes, a line for each that clients may notice. Breaking ones are errors where the schema is refused
 * for them, else warnings, as dangerous ones always are. `head` is the line before them.
 */
export function tellChanges({ refused, changes }: Judgement, head: string): LearnedProblem[] {
  const noticed = changes.filter(({ level }) => level !== 'safe');
  if (noticed.length === 0) return [];
  const severityOf = (level: SchemaChange['level']) => (refused && level === 'breaking' ? 'error' : 'warning');
  const lines = noticed
    .slice(0, MOST_TOLD)
    .map(({ level, message }) => problem(severityOf(level), `${level}: ${message}`));
  const left = noticed.length - lines.length;
  return [
    problem(severityOf(noticed[0]!.level), refused ? `${head}, and is not taken` : head),
    ...lines,
    ...(left > 0 ? [problem(severityOf(noticed.at(-1)!.level), `and ${left} more changes`)] : []),
  ];
}

function problem(severity: LearnedProblem['severity'], message: string): LearnedProblem {
  return { severity, path: SCHEMA_PATH, message };
}
