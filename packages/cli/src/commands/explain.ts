import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { explainWithAccess } from '../explain/access.ts';
import { rejectedBehind } from '../explain/rejected-resources.ts';
import { missingToken } from '../explain/login-token.ts';
import {
  chooseSnapshot,
  explainContext,
  readServed,
  unservedFor,
  unusedListeners,
  type Served,
} from '../explain/served.ts';
import { routesOfRequest } from '../explain/written-routes.ts';
import { renderExplanation, withoutSecrets } from '../explain/explanation.ts';
import { attempt, collect, parseClaims, parseRequest, type WrittenRequest } from '../explain/request-arguments.ts';
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
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl explain GET http://shop.example/cart', 'by the running gateway'],
    [`gatewayctl explain GET http://shop.example/ --claims '{"email":"a@example.com"}'`, 'whether RBAC allows it'],
    ["gatewayctl explain --graphql '{ products { reviews { text } } }'", 'which upstreams are called, and how often'],
    ["gatewayctl explain POST http://shop.example/ -H 'x-beta: 1' -c ./resources", 'by a directory of resources'],
  ]);
  command.action(async (method: string | undefined, url: string | undefined) => {
    const flags = command.opts<ExplainFlags>();
    const { graphql } = flags;
    if (graphql !== undefined) return explainGraphql(io, command, { ...flags, graphql });
    const lacking = method === undefined ? 'method' : 'url';
    if (method === undefined || url === undefined)
      throw cliError('ERR_CLI_USAGE', `missing required argument '${lacking}'; or give --graphql QUERY`);
    await explain(io, await readServed(io, command), { flags, request: parseRequest(method, url, flags.header) });
  });
}

interface Asked {
  readonly flags: ExplainFlags;
  readonly request: WrittenRequest;
}

async function explain(io: Terminal, served: Served, { flags, request }: Asked): Promise<void> {
  const snapshot = chooseSnapshot(served.snapshots, flags.proxy);
  const input = { snapshot, context: explainContext(served.objects), claims: parseClaims(flags.claims) };
  const listener = flags.listener === undefined ? {} : { listener: flags.listener };
  const hostStates = (upstream: string) => served.hostStates?.get(upstream);
  const ask = (headers: Record<string, string[]>) => {
    const { explanation, loginToken } = attempt(() =>
      explainWithAccess({ ...request, headers, hostStates, ...listener }, input),
    );
    return { loginToken, explanation: withoutSecrets(explanation) };
  };
  const { explanation, loginToken } = ask(request.headers);
  const isRouteOfRequest = routesOfRequest({ ...request, ...listener }, explanation, snapshot);
  const rejected = rejectedBehind(explanation, snapshot, { ...served, isRouteOfRequest });
  const shown = { ...explanation, ...(rejected.length > 0 && { rejected }) };
  if (flags.output === 'json') return io.out(JSON.stringify(shown, undefined, 2));
  const choice = { url: request.url, ...listener };
  const unused = unusedListeners(served.objects, snapshot);
  const unserved = await unservedFor(explanation, choice, () => served.readUnserved(snapshot.proxy), unused);
  const { cookie: cookies = [] } = request.headers;
  const withCookie = (cookie: string) =>
    ask({ ...request.headers, cookie: [[...cookies, cookie].join('; ')] }).explanation;
  const missing = loginToken && missingToken(loginToken, withCookie);
  io.outWrapped(renderExplanation({ ...shown, unserved, missingToken: missing }, io.colors));
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
