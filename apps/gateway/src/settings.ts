import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LOG_LEVELS, type LogLevel } from '@edge-gateway/core';

/** The version of this program, from its package. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** Roles that are reserved for later versions: parts of the gateway in separate processes. */
const ROLES_NOT_YET = new Set(['control-plane', 'proxy', 'extauth', 'rate-limit', 'discovery']);
/** Flags that are reserved for later versions. */
const FLAGS_NOT_YET = [
  '--bind-address',
  '--context',
  '--kubeconfig',
  '--kubernetes',
  '--rate-limit-redis',
  '--snapshot-file',
  '--xds',
  '--xds-port',
] as const;

/** The ports that flags set, and what listens there. */
export const PORT_FLAGS = {
  httpPort: { flag: '--http-port', fallback: 8080, what: 'plain port of the default gateway' },
  httpsPort: { flag: '--https-port', fallback: 8443, what: 'TLS port of the default gateway' },
  adminPort: { flag: '--admin-port', fallback: 19_000, what: 'proxy admin' },
  statsPort: { flag: '--stats-port', fallback: 9091, what: 'control-plane diagnostics' },
  devAdminPort: { flag: '--dev-admin-port', fallback: 10_010, what: 'deprecated developer API (Settings devMode)' },
} as const;

/** The settings from flags and environment. Port 0 is any free one. */
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
  /** Whether lines are dropped or requests blocked when the reader of the access log is too slow. Default `drop`. */
  readonly accessLogOverflow: 'drop' | 'block';
  /** Environment variables that templates may read. Default: none. */
  readonly templateEnv?: readonly string[];
  /** Directory with templates for error and login pages. Default: the built-in pages. */
  readonly errorPages?: string;
  /** URL of the Redis that keeps results of GraphQL APIs. Default: they are kept in memory. */
  readonly graphqlCache?: string;
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('a port must be between 0 and 65535.');
  return value;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 3600)) throw new InvalidArgumentError('seconds must be between 0 and 3600.');
  return value;
}

function names(text: string): readonly string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

function redisUrl(text: string): string {
  if (/^rediss?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('it must be redis://host:port or rediss://host:port.');
}

/** Returns an error message if two flags set the same port. */
function portClash(settings: GatewaySettings): string | undefined {
  const flags = new Map<number, string>();
  for (const [key, { flag }] of Object.entries(PORT_FLAGS)) {
    const number = settings[key as keyof typeof PORT_FLAGS];
    const other = flags.get(number);
    if (other && number !== 0) return `${other} and ${flag} are both ${number}: choose different ports`;
    flags.set(number, flag);
  }
  return undefined;
}

/** Ends the program with an error about an option that is not supported yet. */
function notYet(program: Command, what: string): never {
  return program.error(`error: ${what} is not supported yet: one process runs everything. Leave it out.`);
}

/** The only role may be given or left out. */
function checkRole(program: Command, text: string): string {
  if (ROLES_NOT_YET.has(text)) notYet(program, `the role ${text}`);
  if (text !== 'all') program.error(`error: unknown argument '${text}': the only role is all`);
  return text;
}

/** Returns an error of the command line as one line, with a hint for an unknown option. */
function errorText(text: string): string {
  return text
    .replace(/^error: /, 'Error: ')
    .replace(/\n\(Did you mean (.+)\?\)/, ' (did you mean $1?)')
    .replace(/^(Error: unknown option '[^']*')\n$/, '$1 (see --help)\n');
}

/** Returns an option with the variable that it wins over: `GATEWAY_` and its name, unless `variable` is set. */
function option(flags: string, description: string, variable?: string): Option {
  const name = /^--([a-z-]+)/.exec(flags)![1]!;
  return new Option(flags, description).env(variable ?? `GATEWAY_${name.replaceAll('-', '_').toUpperCase()}`);
}

/** Returns the options in the order of the help, then the hidden ones. */
function optionsOf(program: Command): Option[] {
  return [
    option('--config <dir>', 'directory of the resources'),
    ...Object.values(PORT_FLAGS).map(({ flag, fallback, what }) =>
      option(`${flag} <port>`, what).default(fallback).argParser(port),
    ),
    option('--admin-address <address>', 'where the admin ports listen').default('127.0.0.1'),
    option('--proxy-name <name>', 'the proxy to serve as').default('gateway-proxy'),
    option('--log-level <level>', 'least severe level that is logged', 'LOG_LEVEL').choices(LOG_LEVELS).default('info'),
    option('--drain-seconds <s>', 'time for requests under way after SIGTERM').default(30).argParser(seconds),
    option(
      '--access-log-overflow <what>',
      'when the reader of the access log is too slow: drop lines, or block requests',
    )
      .choices(['drop', 'block'])
      .default('drop'),
    option('--template-env <names>', 'variables that templates may read, with commas between them').argParser(names),
    option('--error-pages <dir>', 'directory with templates for error and login pages, such as 404.html'),
    option('--graphql-cache <url>', 'Redis that keeps results of GraphQL APIs, as redis://host:port').argParser(
      redisUrl,
    ),
    option('--workers <n>', '')
      .hideHelp()
      .default(1)
      .argParser((text) => (text === '1' ? 1 : notYet(program, `--workers ${text}`))),
    ...FLAGS_NOT_YET.map((flag) =>
      new Option(`${flag} [value]`)
        .hideHelp()
        .preset('')
        .argParser(() => notYet(program, flag)),
    ),
  ];
}

/**
 * Returns the command line of `edge-gateway`. Each flag has a variable, which it wins over. `run` gets the settings; commander
 * prints help and errors, and ends the process: with status 2 if the arguments are invalid.
 */
export function createProgram(run: (settings: GatewaySettings) => Promise<void>): Command {
  const program = new Command('edge-gateway');
  program
    .description('Serves what the resources in a directory declare: control plane and data plane in one process.')
    .usage('[options]')
    .configureHelp({ visibleArguments: () => [] })
    .version(VERSION)
    .configureOutput({ outputError: (text, write) => write(errorText(text)) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .argument('[role]', 'all', (text) => checkRole(program, text), 'all')
    .action(async (_role: string, options: Partial<GatewaySettings>, command: Command) => {
      // Checked here, after commander has rejected unknown flags, which a mandatory option would precede.
      if (options.config === undefined) command.error("error: required option '--config <dir>' not specified");
      const clash = portClash(options as GatewaySettings);
      if (clash) command.error(`error: ${clash}`);
      await run(options as GatewaySettings);
    });
  for (const each of optionsOf(program)) program.addOption(each);
  return program;
}
