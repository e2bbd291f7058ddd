import type { ResourceRef, SnapshotGraphQLApi } from '@edge-gateway/core';
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
    const text = `no GraphQLApi ${asked}${didYouMean(asked!, known)}; there are: ${known.join(', ')}`;
    throw cliError('ERR_CLI_NOT_FOUND', text);
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

/** Reads the resources; an API of a server that declares no schema has the one that the gateway read from the server. */
export async function readGraphQLObjects(io: Terminal, command: Command): Promise<readonly StatusObject[]> {
  const objects = await readObjects(io, command, 'GraphQLApi');
  const { config } = command.optsWithGlobals<{ config?: string }>();
  if (config !== undefined || !objects.some(isUndeclared)) return objects;
  const snapshots = await readSnapshots(gatewayOf(io, command));
  const listeners = snapshots.flatMap(({ snapshot }) => snapshot.listeners);
  const apis = listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ graphqlApis }) => graphqlApis ?? []));
  const schemas = new Map(apis.flatMap(serverSchemas));
  return objects.map((object) => {
    const schemaDefinition = isUndeclared(object) ? schemas.get(nameOf(object)) : undefined;
    if (schemaDefinition === undefined) return object;
    const { executableSchema, ...spec } = object.spec as GraphQLApiSpec;
    return { ...object, spec: { ...spec, executableSchema: { ...executableSchema, schemaDefinition } } };
  });
}

function isUndeclared({ kind, spec }: StatusObject): boolean {
  const executable = dig(spec, 'executableSchema');
  const isRemote = dig(executable, 'executor', 'remote') !== undefined;
  return kind === 'GraphQLApi' && isRemote && !dig(executable, 'schemaDefinition');
}

/** The schemas that were read from servers, by name of the API, also of joined APIs. */
function serverSchemas({ ref, serverSchema, subschemas = [] }: SnapshotGraphQLApi): [string, string][] {
  const own: [string, string][] = serverSchema === undefined ? [] : [[`${ref.namespace}/${ref.name}`, serverSchema]];
  return [...own, ...subschemas.flatMap(serverSchemas)];
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
