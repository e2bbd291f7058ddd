import type { Command } from 'commander';
import { attempt, chooseGraphQLApi, partsOf, readGraphQLObjects } from '../resources/graphql-objects.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

/** The flags of `explain --graphql`. */
export interface ExplainGraphqlFlags {
  readonly graphql: string;
  readonly api?: string;
  readonly output: 'table' | 'json';
}

/** `explain --graphql QUERY`: which resolver asks which upstream for what, and how often. Nothing is sent. */
export async function explainGraphql(io: Terminal, command: Command, flags: ExplainGraphqlFlags): Promise<void> {
  const objects = await readGraphQLObjects(io, command);
  const api = chooseGraphQLApi(objects, flags.api);
  const { explainOperation } = await import('@edge-gateway/graphql');
  const calls = attempt(() => explainOperation(flags.graphql, partsOf(api, objects)));
  if (flags.output === 'json') return io.out(JSON.stringify(calls, undefined, 2));
  if (calls.length === 0) return io.out('No upstream is called.');
  const rows = calls.map(({ path, resolver, upstream, request, times }) => [path, resolver, upstream, request, times]);
  io.out(renderTable({ columns: ['Field', 'Resolver', 'Upstream', 'Request', 'Times'], rows }, io.width));
}
