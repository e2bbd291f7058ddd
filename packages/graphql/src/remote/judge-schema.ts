import { settingsKey, type ObservedProblem, type Resource, type ResourceKey } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { GraphQLSchema } from 'graphql';
import { compareSchemas, type ChangeRule, type SchemaChange } from '../schema/schema-changes.ts';

/** How schema changes are applied (Settings `graphqlOptions.schemaChangeValidationOptions`). */
export interface ChangePolicy {
  /** Keeps the previous schema at a breaking change. Default false. */
  readonly rejectBreakingChanges?: boolean;
  readonly processingRules?: readonly ChangeRule[];
}

/** The assessment of a changed schema. */
export interface Judgement {
  readonly refused: boolean;
  readonly changes: readonly SchemaChange[];
}

export const SCHEMA_PATH = ['spec', 'executableSchema', 'schemaDefinition'] as const;
export const MAX_REPORTED = 20;

export function settingsOf(resources: ReadonlyMap<ResourceKey, Resource>): SettingsSpec {
  return resources.get(settingsKey())?.spec ?? {};
}

export function changePolicyOf({ graphqlOptions }: SettingsSpec): ChangePolicy {
  return graphqlOptions?.schemaChangeValidationOptions ?? {};
}

/** Compares two schemas, and decides whether the second may replace the first. */
export async function judgeSchemas(
  before: GraphQLSchema,
  after: GraphQLSchema,
  { rejectBreakingChanges = false, processingRules = [] }: ChangePolicy,
): Promise<Judgement> {
  const changes = await compareSchemas(before, after, processingRules);
  return { refused: rejectBreakingChanges && changes.some(({ level }) => level === 'breaking'), changes };
}

/** Returns a problem per noticeable change, after the line `head`: errors for what rejects the schema, else warnings. */
export function changeProblems({ refused, changes }: Judgement, head: string): ObservedProblem[] {
  const noticed = changes.filter(({ level }) => level !== 'safe');
  if (noticed.length === 0) return [];
  const severityOf = (level: SchemaChange['level']) => (refused && level === 'breaking' ? 'error' : 'warning');
  const lines = noticed
    .slice(0, MAX_REPORTED)
    .map(({ level, message }) => problem(severityOf(level), `${level}: ${message}`));
  const left = noticed.length - lines.length;
  return [
    problem(severityOf(noticed[0]!.level), refused ? `${head}, so the change is rejected` : head),
    ...lines,
    ...(left > 0 ? [problem(severityOf(noticed.at(-1)!.level), `and ${left} more changes`)] : []),
  ];
}

function problem(severity: ObservedProblem['severity'], message: string): ObservedProblem {
  return { severity, path: SCHEMA_PATH, message };
}
