import { gatewayNamespace } from '@edge-gateway/core';
import type { Command } from 'commander';
import { needed, pairsOf, valueOf, type Flags } from '../create/flags.ts';
import { cliError } from '../error-codes.ts';

/** Adds the flags that {@link routeOf} reads. */
export function addRouteFlags(command: Command): void {
  command
    .option('-p, --path-prefix <path>', 'match paths with this prefix')
    .option('-e, --path-exact <path>', 'match this path')
    .option('-r, --path-regex <regex>', 'match paths that this RE2 expression matches as a whole')
    .option('-m, --method <methods>', 'match these methods, separated by commas')
    .option('-d, --header <pairs>', 'match headers, name=regex,name=regex; without a regex: the header is present')
    .option('-q, --queryParameter <pairs>', 'match query parameters, in the form of --header')
    .option('-u, --dest-name <name>', 'forward to this Upstream')
    .option('-s, --dest-namespace <namespace>', 'namespace of that Upstream; default: that of the gateway')
    .option('--upstream-group-name <name>', 'forward to this UpstreamGroup')
    .option('--upstream-group-namespace <namespace>', 'namespace of that UpstreamGroup; default: that of the gateway')
    .option('--delegate-name <name>', 'delegate to this RouteTable')
    .option('--delegate-namespace <namespace>', 'namespace of that RouteTable; default: that of the gateway')
    .option('-a, --aws-function-name <name>', 'call this function of the Upstream, by its logical name')
    .option('--aws-unescape', 'read the response of that function as HTML')
    .option('--aws-alb-unwrap', 'read the response of that function as a load balancer would')
    .option('--aws-api-gw-unwrap', 'read the response of that function as an API gateway would')
    .option('-f, --rest-function-name <name>', 'call this function of the Upstream')
    .option('--rest-parameters <pairs>', 'sources of its parameters, name=template; the name :path is the path')
    .option('--prefix-rewrite <path>', 'replace the matched prefix with this path');
}

/** Returns the route that the flags describe, as it is written in a resource. */
export function routeOf(flags: Flags): Record<string, unknown> {
  const prefixRewrite = valueOf(flags, 'prefix-rewrite');
  return {
    matchers: [matcherOf(flags)],
    ...actionOf(flags),
    ...(prefixRewrite !== undefined && { options: { prefixRewrite } }),
  };
}

const PATHS = { prefix: 'path-prefix', exact: 'path-exact', regex: 'path-regex' } as const;

function matcherOf(flags: Flags): Record<string, unknown> {
  const given = Object.entries(PATHS).flatMap(([field, flag]) => {
    const value = valueOf(flags, flag);
    return value === undefined ? [] : [[field, value] as const];
  });
  if (given.length !== 1) {
    const text = 'exactly one of --path-prefix, --path-exact and --path-regex is required';
    throw cliError('ERR_CLI_USAGE', text);
  }
  const methods = valueOf(flags, 'method')
    ?.split(',')
    .map((method) => method.trim().toUpperCase());
  const headers = conditionsOf(flags, 'header');
  const queryParameters = conditionsOf(flags, 'queryParameter');
  return {
    ...Object.fromEntries(given),
    ...(methods && { methods }),
    ...(headers && { headers }),
    ...(queryParameters && { queryParameters }),
  };
}

/** Conditions with a value are regular expressions; without a value, the name must be present. */
function conditionsOf(flags: Flags, flag: string): object[] | undefined {
  const pairs = pairsOf(flags, flag, 'names');
  return (
    pairs && Object.entries(pairs).map(([name, value]) => (value === '' ? { name } : { name, value, regex: true }))
  );
}

const ACTIONS = ['dest-name', 'upstream-group-name', 'delegate-name'] as const;

function actionOf(flags: Flags): Record<string, unknown> {
  const given = ACTIONS.filter((flag) => valueOf(flags, flag) !== undefined);
  if (given.length !== 1) {
    const text = 'exactly one of --dest-name, --upstream-group-name and --delegate-name is required';
    throw cliError('ERR_CLI_USAGE', text);
  }
  const [action] = given;
  rejectStray(flags, action!);
  if (action === 'delegate-name') return { delegateAction: { ref: refOf(flags, 'delegate') } };
  if (action === 'upstream-group-name') return { routeAction: { upstreamGroup: refOf(flags, 'upstream-group') } };
  const destinationSpec = destinationSpecOf(flags);
  return { routeAction: { single: { upstream: refOf(flags, 'dest'), ...(destinationSpec && { destinationSpec }) } } };
}

function refOf(flags: Flags, prefix: string): { name: string; namespace: string } {
  const namespace = valueOf(flags, `${prefix}-namespace`) ?? gatewayNamespace();
  return { name: needed(flags, `${prefix}-name`), namespace };
}

/** Each flag that has an effect only together with another one. */
const DEPENDENT: readonly (readonly [flag: string, needs: string])[] = [
  ['dest-namespace', 'dest-name'],
  ['upstream-group-namespace', 'upstream-group-name'],
  ['delegate-namespace', 'delegate-name'],
  ['aws-function-name', 'dest-name'],
  ['aws-unescape', 'aws-function-name'],
  ['aws-alb-unwrap', 'aws-function-name'],
  ['aws-api-gw-unwrap', 'aws-function-name'],
  ['rest-function-name', 'dest-name'],
  ['rest-parameters', 'rest-function-name'],
];

const isGiven = (flags: Flags, flag: string): boolean =>
  flags[flag.replaceAll(/-[a-z]/g, (part) => part[1]!.toUpperCase())] !== undefined;

/** Rejects flags that would have no effect. */
function rejectStray(flags: Flags, action: string): void {
  for (const [flag, needs] of DEPENDENT)
    if (isGiven(flags, flag) && !isGiven(flags, needs))
      throw cliError('ERR_CLI_USAGE', `--${flag} requires --${needs}`);
  if (action === 'delegate-name' && isGiven(flags, 'path-exact'))
    throw cliError('ERR_CLI_USAGE', '--delegate-name requires --path-prefix');
}

function destinationSpecOf(flags: Flags): Record<string, unknown> | undefined {
  const aws = valueOf(flags, 'aws-function-name');
  const rest = valueOf(flags, 'rest-function-name');
  if (aws !== undefined && rest !== undefined)
    throw cliError('ERR_CLI_USAGE', '--aws-function-name and --rest-function-name cannot be combined');
  if (aws !== undefined)
    return {
      aws: {
        logicalName: aws,
        ...(flags['awsUnescape'] && { responseTransformation: true }),
        ...(flags['awsAlbUnwrap'] && { unwrapAsAlb: true }),
        ...(flags['awsApiGwUnwrap'] && { unwrapAsApiGateway: true }),
      },
    };
  if (rest === undefined) return undefined;
  const { ':path': path, ...headers } = pairsOf(flags, 'rest-parameters') ?? {};
  const hasHeaders = Object.keys(headers).length > 0;
  const parameters = { ...(hasHeaders && { headers }), ...(path !== undefined && { path }) };
  const hasParameters = hasHeaders || path !== undefined;
  return { rest: { functionName: rest, ...(hasParameters && { parameters }) } };
}
