import { isIP } from 'node:net';
import type { Command } from 'commander';
import { addExamples, asGroup, exitStatus } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { renderLimits } from '../explain/limit-lines.ts';
import { rejectedBehind } from '../explain/rejected-resources.ts';
import { attempt, collect, parseClaims, parseRequest, type WrittenRequest } from '../explain/request-arguments.ts';
import { chooseSnapshot, explainContext, readServed, type Served } from '../explain/served.ts';
import { outputOption, yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface LimitFlags {
  readonly header?: readonly string[];
  readonly claims?: string;
  readonly clientAddress?: string;
  readonly user?: string;
  readonly listener?: string;
  readonly proxy?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

/** `ratelimit explain METHOD URL`: which limits a request is counted under. Counts nothing. */
export function addRatelimit(program: Command, io: Terminal): void {
  const group = asGroup(program.command('ratelimit').description('Work with rate limits.'));
  const command = group
    .command('explain')
    .description('Explain which rate limits a request is counted under, and why not under others.')
    .argument('<method>', 'HTTP method, e.g. GET')
    .argument('<url>', 'absolute URL, e.g. http://shop.example/cart')
    .option('-H, --header <header>', 'request header "name: value"; repeatable', collect)
    .option('--claims <json>', 'claims to assume of a verified token, e.g. \'{"plan":"gold"}\'')
    .option('--client-address <ip>', 'address of the client; default: 127.0.0.1')
    .option('--user <id>', 'user to assume as authenticated')
    .option('-c, --config <dir>', 'read this directory of resources instead of a running gateway')
    .option('--listener <name>', 'listener of the request; default: by port or scheme of the URL')
    .option('--proxy <name>', 'proxy to query if there are several')
    .addOption(outputOption('table', 'json', 'yaml'));
  addExamples(command, [
    ['gatewayctl ratelimit explain GET http://shop.example/', 'by the running gateway'],
    ['gatewayctl ratelimit explain GET http://shop.example/ --user ann -c ./resources', 'the limits of a user'],
    [`gatewayctl ratelimit explain GET http://shop.example/ --claims '{"plan":"gold"}'`, 'the limits of a claim'],
  ]);
  command.action(async (method: string, url: string) => {
    const flags = command.opts<LimitFlags>();
    const request = parseRequest(method, url, flags.header);
    checkAddress(flags.clientAddress);
    await explain(io, await readServed(io, command), { flags, request });
  });
}

interface Asked {
  readonly flags: LimitFlags;
  readonly request: WrittenRequest;
}

async function explain(io: Terminal, served: Served, { flags, request }: Asked): Promise<void> {
  const [{ withoutSecrets }, { explainRequestLimits }, { routesOfRequest }] = await Promise.all([
    import('../explain/explanation.ts'),
    import('../explain/limits.ts'),
    import('../explain/written-routes.ts'),
  ]);
  const { clientAddress, listener, proxy, user, output } = flags;
  const snapshot = chooseSnapshot(served.snapshots, proxy);
  const claims = parseClaims(flags.claims);
  const auth = 'assumed' as const;
  const input = { snapshot, context: explainContext(served.objects), claims, user, auth };
  const asked = {
    ...request,
    ...(listener !== undefined && { listener }),
    ...(clientAddress !== undefined && { clientAddress }),
  };
  const { explanation, granted, limits } = await attempt(() => explainRequestLimits(asked, input));
  const { request: shownRequest } = withoutSecrets(explanation, granted);
  const isRouteOfRequest = routesOfRequest(asked, explanation, snapshot);
  const rejected = rejectedBehind(explanation, snapshot, { ...served, isRouteOfRequest });
  const shown = { ...limits, request: shownRequest, ...(rejected.length > 0 && { rejected }) };
  if (output === 'json') io.out(JSON.stringify(shown, undefined, 2));
  else if (output === 'yaml') io.out(yamlText(shown));
  else io.outWrapped(renderLimits(shown, io.colors));
  if (limits.route === undefined && rejected.length > 0) throw exitStatus(1);
}

function checkAddress(address: string | undefined): void {
  if (address === undefined || isIP(address) !== 0) return;
  throw cliError('ERR_CLI_USAGE', `--client-address must be an IP address, not '${address}'`);
}
