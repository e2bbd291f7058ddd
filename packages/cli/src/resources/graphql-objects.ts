import type { ResourceRef, Snapshot, SnapshotGraphQLApi } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { ExplainParts } from '@edge-gateway/graphql';
import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import type { Terminal } from '../output/terminal.ts';
import { dig, type StatusObject } from './objects.ts';
import { readObjects } from './load.ts';
import { readSnapshots } from '../gateway/pages.ts';
import { didYouMean } from '../command-line/command-help.ts';

/** Returns a GraphQLApi by `name` or `namespace/name`; without a name, the only one. */
export function chooseGraphQLApi(objects: readonly StatusObject[], asked: string | undefined): StatusObject {
  const apis = objects.filter(({ kind }) => kind === 'GraphQLApi');
  const fitting =
    asked === undefined ? apis : apis.filter((api) => asked === nameOf(api) || asked === api.metadata.name);
  if (fitting.length === 1) return fitting[0]!;
  const known = apis.map(nameOf).sort();
  if (apis.length === 0) throw cliError('ERR_CLI_NOT_FOUND', 'no GraphQLApi exists');
  if (fitting.length === 0) {
    throw cliError(
      'ERR_CLI_NOT_FOUND',
      `no GraphQLApi ${asked}${didYouMean(asked!, known)}; there are: ${known.join(', ')}`,
    );
  }
  throw cliError('ERR_CLI_USAGE', `choose one with --api: ${fitting.map(nameOf).sort().join(', ')}`);
}

const nameOf = ({ metadata }: StatusObject): string => `${metadata.namespace}/${metadata.name}`;

/** What an API is explained with; the APIs that it joins are looked up among `objects`. */
export function partsOf(api: StatusObject, objects: readonly StatusObject[]): ExplainParts {
  const apis = objects.filter(({ kind }) => kind === 'GraphQLApi');
  const find = (ref: ResourceRef): unknown =>
    apis.find(({ metadata }) => metadata.name === ref.name && metadata.namespace === ref.namespace)?.spec;
  return { ref: api.metadata, spec: api.spec as GraphQLApiSpec, findApi: (ref) => find(ref) as GraphQLApiSpec };
}

/**
 * The resources that `readObjects` gives. An API before a server that declares no schema has the one that the server told the
 * gateway.
 */
export async function readGraphQLObjects(io: Terminal, command: Command): Promise<readonly StatusObject[]> {
  const objects = await readObjects(io, command, 'GraphQLApi');
  const { config } = command.optsWithGlobals<{ config?: string }>();
  if (config !== undefined || !objects.some(isUndeclared)) return objects;
  const told = new Map<string, string>();
  for (const { snapshot } of await readSnapshots(gatewayOf(io, command))) collect(apisIn(snapshot), told);
  return objects.map((object) => {
    const schemaDefinition = isUndeclared(object) ? told.get(nameOf(object)) : undefined;
    if (schemaDefinition === undefined) return object;
    const { executableSchema } = object.spec as GraphQLApiSpec;
    return {
      ...object,
      spec: { ...(object.spec as object), executableSchema: { ...executableSchema, schemaDefinition } },
    };
  });
}

function isUndeclared({ kind, spec }: StatusObject): boolean {
  const executable = dig(spec, 'executableSchema');
  return (
    kind === 'GraphQLApi' && dig(executable, 'executor', 'remote') !== undefined && !dig(executable, 'schemaDefinition')
  );
}

function apisIn({ listeners }: Snapshot): SnapshotGraphQLApi[] {
  return listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ graphqlApis }) => graphqlApis ?? []));
}

function collect(apis: readonly SnapshotGraphQLApi[], told: Map<string, string>): void {
  for (const { ref, serverSchema, subschemas } of apis) {
    if (serverSchema !== undefined) told.set(`${ref.namespace}/${ref.name}`, serverSchema);
    collect(subschemas ?? [], told);
  }
}

/** Runs work on a GraphQL document; its errors are one line, and begin with the place in the file if there is one. */
export function attempt<T>(work: () => T, file?: string): T {
  try {
    return work();
  } catch (error) {
    const { message, locations } = error as Error & {
      readonly locations?: readonly { line: number; column: number }[];
    };
    const [place] = locations ?? [];
    const at = file === undefined ? '' : place ? `${file}:${place.line}:${place.column}: ` : `${file}: `;
    throw cliError('ERR_CLI_USAGE', `${at}${message.split('\n', 1)[0]}`, error);
  }
}
