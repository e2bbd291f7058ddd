import { cliError } from './error-codes.ts';
import { dig, type StatusObject } from './objects.ts';
import { didYouMean } from './suggest.ts';

/** The GraphQLApi asked for as `name` or `namespace/name`; the only one there is when none is named. */
export function chooseGraphQLApi(objects: readonly StatusObject[], asked: string | undefined): StatusObject {
  const apis = objects.filter(({ kind }) => kind === 'GraphQLApi');
  const fitting =
    asked === undefined ? apis : apis.filter((api) => asked === nameOf(api) || asked === api.metadata.name);
  if (fitting.length === 1) return fitting[0]!;
  const known = apis.map(nameOf).sort();
  if (apis.length === 0) throw cliError('ERR_CLI_NOT_FOUND', 'there is no GraphQLApi');
  if (fitting.length === 0) {
    throw cliError(
      'ERR_CLI_NOT_FOUND',
      `no GraphQLApi ${asked}${didYouMean(asked!, known)}; there are: ${known.join(', ')}`,
    );
  }
  throw cliError('ERR_CLI_USAGE', `--api has to say which one is meant: ${fitting.map(nameOf).sort().join(', ')}`);
}

function nameOf({ metadata }: StatusObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The schema definition that an API was written with. */
export function schemaTextOf(api: StatusObject): string {
  const text = dig(api.spec, 'executableSchema', 'schemaDefinition');
  if (typeof text === 'string' && text !== '') return text;
  throw cliError('ERR_CLI_NOT_FOUND', `GraphQLApi ${nameOf(api)} has no schemaDefinition`);
}
