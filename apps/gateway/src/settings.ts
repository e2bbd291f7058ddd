import { Command, InvalidArgumentError, Option } from 'commander';
import { LOG_LEVELS, type LogLevel } from '@edge-gateway/core';

/** The parts a process can run as. `all` is control plane and data plane in one. */
export const ROLES = ['all', 'control-plane', 'proxy'] as const;
export type Role = (typeof ROLES)[number];

/** What flags and environment say. Ports: 0 is any free one. */
export interface GatewaySettings {
  readonly config: string;
  /** Of the default gateways, when no Gateway resource exists. */
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly adminPort: number;
  readonly statsPort: number;
  readonly devAdminPort: number;
  /** Address of the three admin ports. Default 127.0.0.1. */
  readonly adminAddress: string;
  readonly proxyName: string;
  readonly logLevel: LogLevel;
  /** Seconds that requests under way have to finish after the first SIGTERM. Default 30. */
  readonly drainSeconds: number;
  /** What happens to lines of the access log when its reader is too slow. Default `drop`. */
  readonly accessLogOverflow: 'drop' | 'block';
  /** Environment variables that templates may read. Default: none. */
  readonly templateEnv?: readonly string[];
  /** Directory of templates for the pages that people see. Default: the built-in pages. */
  readonly errorPages?: string;
  /** URL of the Redis that keeps results of GraphQL APIs. Default: they are kept in memory. */
  readonly graphqlCache?: string;
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('a port is 0 to 65535.');
  return value;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 3600)) throw new InvalidArgumentError('seconds are 0 to 3600.');
  return value;
}

function names(text: string): readonly string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

function redisUrl(text: string): string {
  if (/^rediss?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('it is redis://host:port or rediss://host:port.');
}

function oneWorker(text: string): number {
  if (text !== '1') throw new InvalidArgumentError('one process serves all in the role "all"; leave it out or say 1.');
  return 1;
}

function role(text: string): Role {
  if (text === 'all') return text;
  if (ROLES.includes(text as Role)) {
    throw new InvalidArgumentError(
      `the role ${text} needs planes in separate processes, which this version does not have.`,
    );
  }
  throw new InvalidArgumentError(`the roles are ${ROLES.join(', ')}.`);
}

/**
 * The command line of `edge-gateway`. Each flag has a variable, which it wins over.
 * `run` gets the settings; commander prints help and errors and ends the process itself.
 */
export function createProgram(version: string, run: (settings: GatewaySettings) => Promise<void>): Command {
  const portOption = (flag: string, env: string, fallback: number, what: string): Option =>
    new Option(`${flag} <port>`, what).env(env).default(fallback).argParser(port);
  return new Command('edge-gateway')
    .description('Serves what the resources in a directory declare: control plane and data plane in one process.')
    .version(version)
    .argument('[role]', `what to run: ${ROLES.join(', ')}`, role, 'all')
    .addOption(new Option('--config <dir>', 'directory of the resources').env('GATEWAY_CONFIG'))
    .addOption(portOption('--http-port', 'GATEWAY_HTTP_PORT', 8080, 'plain port of the default gateway'))
    .addOption(portOption('--https-port', 'GATEWAY_HTTPS_PORT', 8443, 'TLS port of the default gateway'))
    .addOption(portOption('--admin-port', 'GATEWAY_ADMIN_PORT', 19_000, 'proxy admin'))
    .addOption(portOption('--stats-port', 'GATEWAY_STATS_PORT', 9091, 'control-plane diagnostics'))
    .addOption(
      portOption('--dev-admin-port', 'GATEWAY_DEV_ADMIN_PORT', 10_010, 'deprecated developer API (Settings devMode)'),
    )
    .addOption(
      new Option('--admin-address <address>', 'where the admin ports listen')
        .env('GATEWAY_ADMIN_ADDRESS')
        .default('127.0.0.1'),
    )
    .addOption(
      new Option('--workers <n>', 'processes that serve').env('GATEWAY_WORKERS').default(1).argParser(oneWorker),
    )
    .addOption(
      new Option('--proxy-name <name>', 'the proxy to serve as').env('GATEWAY_PROXY_NAME').default('gateway-proxy'),
    )
    .addOption(
      new Option('--log-level <level>', 'least severe level that is logged')
        .env('LOG_LEVEL')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addOption(
      new Option('--drain-seconds <s>', 'time for requests under way after SIGTERM')
        .env('GATEWAY_DRAIN_SECONDS')
        .default(30)
        .argParser(seconds),
    )
    .addOption(
      new Option(
        '--access-log-overflow <what>',
        'when the reader of the access log is too slow: drop lines, or block requests',
      )
        .env('GATEWAY_ACCESS_LOG_OVERFLOW')
        .choices(['drop', 'block'])
        .default('drop'),
    )
    .addOption(
      new Option('--template-env <names>', 'variables that templates may read, with commas between them')
        .env('GATEWAY_TEMPLATE_ENV')
        .argParser(names),
    )
    .addOption(
      new Option('--error-pages <dir>', 'templates for the pages that people see, as 404.html').env(
        'GATEWAY_ERROR_PAGES',
      ),
    )
    .addOption(
      new Option('--graphql-cache <url>', 'Redis that keeps results of GraphQL APIs, as redis://host:port')
        .env('GATEWAY_GRAPHQL_CACHE')
        .argParser(redisUrl),
    )
    .action(async (_role: Role, options: Partial<GatewaySettings>, command: Command) => {
      // Said here, after commander has told of flags that it does not know: a mandatory option would come before them.
      if (options.config === undefined) command.error("error: required option '--config <dir>' not specified");
      await run(options as GatewaySettings);
    });
}
