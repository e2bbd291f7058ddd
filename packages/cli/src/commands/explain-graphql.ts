import { GatewayError } from '@edge-gateway/core';
import type { ExplainedCall } from '@edge-gateway/graphql';
import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { chooseGraphQLApi, partsOf, readGraphQLObjects } from '../resources/graphql-objects.ts';
import type { StatusObject } from '../resources/objects.ts';
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
  const calls = await callsOf(chooseGraphQLApi(objects, flags.api), objects, flags.graphql);
  if (flags.output === 'json') return io.out(JSON.stringify(calls, undefined, 2));
  if (calls.length === 0) return io.out('No upstream is called.');
  const rows = calls.map(({ path, resolver, upstream, request, times }) => [path, resolver, upstream, request, times]);
  io.out(renderTable({ columns: ['Field', 'Resolver', 'Upstream', 'Request', 'Times'], rows }, io.width));
}

async function callsOf(api: StatusObject, objects: readonly StatusObject[], query: string): Promise<ExplainedCall[]> {
  const { explainOperation } = await import('@edge-gateway/graphql');
  try {
    return explainOperation(query, partsOf(api, objects));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw cliError('ERR_CLI_USAGE', error.message.split('\n', 1)[0]!, error);
  }
}
