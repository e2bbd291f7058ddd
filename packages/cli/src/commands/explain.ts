import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import {
  collect,
  parseClaims,
  parseExpectedOutcome,
  parseRequest,
  type ExpectedOutcome,
} from '../explain/request-arguments.ts';
import { readServed } from '../explain/served.ts';
import { addExamples } from '../command-line/command-help.ts';
import { outputOption } from '../output/formats.ts';
import { renderTable } from '../output/table.ts';
import {
  attempt as attemptGraphql,
  chooseGraphQLApi,
  partsOf,
  readGraphQLObjects,
} from '../resources/graphql-objects.ts';
import type { Terminal } from '../output/terminal.ts';

interface ExplainFlags {
  readonly graphql?: string;
  readonly api?: string;
  readonly header?: readonly string[];
  readonly claims?: string;
  readonly listener?: string;
  readonly proxy?: string;
  readonly expectStatus?: ExpectedOutcome;
  readonly output: 'table' | 'json';
}

/** `explain METHOD URL`: how a request is served, and why. Sends nothing. */
export function addExplain(program: Command, io: Terminal): void {
  const command = program
    .command('explain')
    .description('Explain which listener, virtual host and route a request gets, and what goes upstream.')
    .argument('[method]', 'HTTP method, e.g. GET')
    .argument('[url]', "absolute URL, e.g. http://shop.example/cart; or '*' with OPTIONS")
    .option('--graphql <query>', 'explain the requests of this GraphQL operation to upstreams, instead of a request')
    .option('--api <name>', 'GraphQLApi of --graphql if there are several: name or namespace/name')
    .option('-H, --header <header>', 'request header "name: value"; repeatable', collect)
    .option('--claims <json>', 'claims to assume of a verified token, e.g. \'{"email":"a@example.com"}\'')
    .option('-c, --config <dir>', 'read this directory of resources instead of a running gateway')
    .option('--listener <name>', 'listener of the request; default: by port or scheme of the URL')
    .option('--proxy <name>', 'proxy to query if there are several')
    .option(
      '--expect-status <status>',
      'exit with status 1 unless the gateway itself responds with this status; forwarded: unless an upstream gets the request',
      parseExpectedOutcome,
    )
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl explain GET http://shop.example/cart', 'by the running gateway'],
    [`gatewayctl explain GET http://shop.example/ --claims '{"email":"a@example.com"}'`, 'whether RBAC allows it'],
    ["gatewayctl explain --graphql '{ products { reviews { text } } }'", 'which upstreams are called, and how often'],
    ["gatewayctl explain POST http://shop.example/ -H 'x-beta: 1' -c ./resources", 'by a directory of resources'],
    ['gatewayctl explain GET http://shop.example/admin -c ./resources --expect-status 401', 'for CI'],
  ]);
  command.action(async (method: string | undefined, url: string | undefined) => {
    const flags = command.opts<ExplainFlags>();
    const { graphql, expectStatus } = flags;
    if (graphql !== undefined && expectStatus !== undefined)
      throw cliError(
        'ERR_CLI_USAGE',
        '--expect-status needs a method and a URL, and --graphql has none; omit one of the two',
      );
    if (graphql !== undefined) return explainGraphql(io, command, { ...flags, graphql });
    const lacking = method === undefined ? 'method' : 'url';
    if (method === undefined || url === undefined)
      throw cliError('ERR_CLI_USAGE', `missing required argument '${lacking}'; or give --graphql QUERY`);
    const { header, claims, listener, proxy, output } = flags;
    const request = parseRequest(method, url, header);
    const [{ explainServed }, { outcomeMismatch }] = await Promise.all([
      import('../explain/explain-served.ts'),
      import('../explain/expected-outcome.ts'),
    ]);
    const served = await readServed(io, command);
    const explained = await explainServed(served, { request, claims: parseClaims(claims), listener, proxy });
    if (output === 'json') io.out(JSON.stringify(explained.data, undefined, 2));
    else io.outWrapped(await explained.text(io.colors));
    const mismatch = expectStatus === undefined ? undefined : outcomeMismatch(explained.data, expectStatus);
    if (mismatch !== undefined) throw cliError('ERR_CLI_UNEXPECTED', mismatch);
  });
}

/** `explain --graphql QUERY`: the requests of each resolver to upstreams, and how often. Sends nothing. */
async function explainGraphql(
  io: Terminal,
  command: Command,
  flags: ExplainFlags & { readonly graphql: string },
): Promise<void> {
  const objects = await readGraphQLObjects(io, command);
  const api = chooseGraphQLApi(objects, flags.api);
  const { explainOperation } = await import('@edge-gateway/graphql');
  const calls = attemptGraphql(() => explainOperation(flags.graphql, partsOf(api, objects)));
  if (flags.output === 'json') return io.out(JSON.stringify(calls, undefined, 2));
  if (calls.length === 0) return io.out('No upstream is called.');
  const rows = calls.map(({ path, resolver, upstream, request, times }) => [path, resolver, upstream, request, times]);
  io.out(renderTable({ columns: ['Field', 'Resolver', 'Upstream', 'Request', 'Times'], rows }, io.width));
}
