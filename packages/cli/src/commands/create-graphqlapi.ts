import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { formatIssue, parseDocuments, readLimited } from '@edge-gateway/core';
import type { Command } from 'commander';
import { metadataOf, save, withCreateFlags, type CreateFlags } from '../create/save.ts';
import { cliError, fileError, isCliError } from '../error-codes.ts';
import { addExamples } from '../command-line/command-help.ts';
import { attempt } from '../resources/graphql-objects.ts';
import type { Terminal } from '../output/terminal.ts';

interface GraphQLApiFlags extends CreateFlags {
  readonly fromOpenapi: string;
  readonly upstream?: string;
}

const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** `create graphqlapi --from-openapi FILE|URL`: a GraphQLApi with a field per operation of the document. */
export function addCreateGraphQLApi(create: Command, io: Terminal): void {
  const command = withCreateFlags(create.command('graphqlapi').alias('gql').description('Create a GraphQL API.'))
    .requiredOption('--from-openapi <file|url>', 'OpenAPI 3 document, in JSON or YAML')
    .option('--upstream <name>', 'the Upstream of the service; default: the name of the API');
  addExamples(command, [
    ['gatewayctl create graphqlapi petstore --from-openapi petstore.yaml -c ./resources', 'a file in ./resources'],
    ['gatewayctl create gql petstore --from-openapi http://127.0.0.1:8080/openapi.json --dry-run', 'only printed'],
  ]);
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<GraphQLApiFlags>();
    const metadata = metadataOf(argument, flags);
    const document = parsed(flags.fromOpenapi, await textOf(io, flags.fromOpenapi));
    const { discover } = await import('@edge-gateway/graphql');
    const upstream = { name: flags.upstream ?? metadata.name, namespace: metadata.namespace };
    const { spec, skipped } = attempt(() => discover(upstream, { type: 'openapi', document }), flags.fromOpenapi);
    const resource = { apiVersion: 'graphql.gw.vendor.io/v1beta1', kind: 'GraphQLApi', metadata, spec } as const;
    const count = Object.keys(spec.executableSchema?.executor?.local?.resolutions ?? {}).length;
    const table = () => `GraphQLApi ${metadata.name}: ${count} fields of upstream ${upstream.name}`;
    const text = await save(io, resource, { flags, table });
    for (const { where, reason } of skipped) io.err(`skipped ${where}: ${reason}`);
    io.out(text);
  });
}

async function textOf(io: Terminal, from: string): Promise<string> {
  const isUrl = /^https?:\/\//i.test(from);
  if (!isUrl && /^[a-z][a-z0-9+.-]*:\/\//i.test(from))
    throw cliError('ERR_CLI_USAGE', `${from}: only http and https are read`);
  try {
    const chunks = isUrl ? await fetched(io, from) : createReadStream(resolve(io.cwd, from));
    const read = await readLimited(chunks, MAX_BYTES);
    if (read) return read.toString('utf8');
  } catch (error) {
    if (isCliError(error)) throw error;
    if (!isUrl) throw fileError(from, error);
    const { message, cause } = error as { readonly message: string; readonly cause?: { readonly message?: string } };
    throw cliError('ERR_CLI_UNREACHABLE', `${from} cannot be read (${cause?.message || message})`, error);
  }
  throw cliError('ERR_CLI_TOO_LARGE', `${from} has more than ${MAX_BYTES} bytes`);
}

async function fetched(io: Terminal, url: string): Promise<Response['body']> {
  const response = await (io.fetch ?? fetch)(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.ok) return response.body;
  throw cliError('ERR_CLI_REFUSED', `${url} responded with ${response.status}`);
}

/** A document in JSON or YAML; what is wrong with it begins with its place. */
function parsed(from: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const [document] = parseDocuments(text, from);
    const problem = document?.issues.find(({ severity }) => severity === 'error');
    if (problem) throw cliError('ERR_CLI_USAGE', formatIssue(problem));
    return document?.value;
  }
}
