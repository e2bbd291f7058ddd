import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import {
  DEFAULT_NAMESPACE,
  isNamespaceName,
  LOG_LEVELS,
  LOGGER_NAMES,
  MAX_WORKERS,
  parseLoggerLevel,
  readRedisAddress,
  type LoggerLevel,
} from '@edge-gateway/core';
import { READ_ONLY_PORT_FLAGS } from '../settings.ts';
import { isInCluster } from '@edge-gateway/kubernetes/access';
import { readServerAddresses, type ServerAddress } from '@edge-gateway/xds/address';
import type { PortFlag, SourceSettings } from './role.ts';

/** Returns a port from its text; 0 is any free one. */
export function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('a port must be between 0 and 65535.');
  return value;
}

export function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 3600)) throw new InvalidArgumentError('seconds must be between 0 and 3600.');
  return value;
}

/** Returns a number of processes; `auto` is one per processor core. */
export function workers(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_WORKERS) return value;
  throw new InvalidArgumentError(`workers must be auto or a number between 1 and ${MAX_WORKERS}.`);
}

/** Creates the parser of a flag with several values in one text. Throws if the flag is repeated: its last values would replace the others. */
export function listOf<T>(parse: (text: string) => T): (text: string, previous: T | undefined) => T {
  return (text, previous) => {
    if (previous === undefined) return parse(text);
    throw new InvalidArgumentError('the flag is repeated: separate its values by commas.');
  };
}

/** Returns addresses from a text such as `cp-1:9977,[::1]:9977`. */
export function addresses(text: string): readonly ServerAddress[] {
  try {
    return readServerAddresses(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

/** Returns names from a text with commas between them. */
export function names(text: string): readonly string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

function namespaceName(text: string): string {
  if (isNamespaceName(text)) return text;
  throw new InvalidArgumentError(
    "a namespace has at most 63 lower-case letters, digits and '-', with a letter or digit at both ends.",
  );
}

const REDIS_SCHEMES =
  'redis://, rediss://, unix://, redis+cluster://, rediss+cluster://, redis+sentinel:// or rediss+sentinel://';

/** Returns the address of a Redis; the error of an invalid one never repeats it. */
export function redisUrl(text: string): string {
  try {
    if (text.includes('://')) readRedisAddress({ host: text });
    else throw new TypeError(`redis: must begin with ${REDIS_SCHEMES}`);
  } catch (error) {
    const reason = (error as Error).message.replace(/^redis: host must be host:port, /, 'must be ');
    throw new InvalidArgumentError(reason.replace('redis: ', ''));
  }
  return text;
}

/** Returns an option that overrides a variable: `GATEWAY_` with its name, unless `variable` is set. */
export function option(flags: string, description: string, variable?: string): Option {
  const name = /^--([a-z-]+)/.exec(flags)![1]!;
  return new Option(flags, description).env(variable ?? `GATEWAY_${name.replaceAll('-', '_').toUpperCase()}`);
}

export const configOption = (): Option => option('--config <dir>', 'directory of the resources');

/** Returns the flags of a role that reads resources from a directory or a cluster. */
export const sourceOptions = (): readonly Option[] => [configOption(), ...clusterOptions()];

/** Returns the flags of a role that reads the resources of a cluster. */
export const clusterOptions = (): readonly Option[] => [
  option('--kubernetes', 'read the resources of a Kubernetes cluster; the default in a pod with a service account'),
  option('--kubeconfig <file>', 'file that describes how to reach the cluster', 'GATEWAY_KUBECONFIG'),
  option('--context <name>', 'context of the kubeconfig', 'GATEWAY_KUBE_CONTEXT'),
];

/** Returns why the flags of {@link clusterOptions} name no cluster. */
export function clusterProblem({ kubernetes, kubeconfig, context }: SourceSettings): string | undefined {
  if (kubernetes || kubeconfig !== undefined || context !== undefined || isInCluster(process.env)) return undefined;
  return "required option '--kubernetes' not specified";
}

/** Returns why the flags of {@link sourceOptions} do not fit together. */
export function sourceProblem({ config, kubernetes, kubeconfig, context }: SourceSettings): string | undefined {
  if (config !== undefined && kubernetes) return '--config and --kubernetes exclude each other';
  const cluster = Object.entries({ kubeconfig, context }).find(([, value]) => value !== undefined);
  if (config !== undefined && cluster) return `--${cluster[0]} requires --kubernetes, not --config`;
  if (config !== undefined || kubernetes || cluster || isInCluster(process.env)) return undefined;
  return "required option '--config <dir>' or '--kubernetes' not specified";
}

export const portOption = ({ flag, fallback, what }: PortFlag): Option => {
  const created = option(`${flag} <port>`, what).argParser(port);
  return fallback === undefined ? created : created.default(fallback);
};

/** Returns the flags of the admin ports of every role. */
export const adminOptions = (): readonly Option[] => [
  option('--admin-address <address>', 'address of the admin ports').default('127.0.0.1'),
  option('--admin-token-file <file>', 'token for the admin ports; required unless they listen on loopback'),
];

/** Returns the levels of single loggers, from `name:level` separated by commas. */
export function loggerLevels(text: string): readonly LoggerLevel[] {
  return names(text).map((pair) => {
    const [name = '', level = '', ...rest] = pair.split(':');
    const parsed = parseLoggerLevel(name, [level, ...rest].join(':'));
    if (typeof parsed !== 'string') return parsed;
    const allowed = parsed === 'unknown logger name' ? `loggers: ${LOGGER_NAMES.join(', ')}` : LEVELS;
    throw new InvalidArgumentError(`${parsed} in '${pair}'; ${allowed}.`);
  });
}

const LEVELS = `levels: trace, ${LOG_LEVELS.join(', ')}, off`;

/** Returns the flags that every role has: of its namespace and of log levels. */
export const commonOptions = (): readonly Option[] => [
  option('--namespace <name>', 'namespace of the gateway: of its Settings, and of references without a namespace')
    .argParser(namespaceName)
    .default(DEFAULT_NAMESPACE),
  option('--log-level <level>', 'least severe level that is logged', 'LOG_LEVEL').choices(LOG_LEVELS).default('info'),
  option(
    '--component-log-level <levels>',
    'levels of single loggers, as name:level separated by commas',
    'COMPONENT_LOG_LEVEL',
  ).argParser(listOf(loggerLevels)),
];

export const drainSecondsOption = (): Option =>
  option('--drain-seconds <s>', 'time for requests in progress after SIGTERM').default(30).argParser(seconds);

/** Returns the flags of a role without a data plane: its ports and own flags, and those of every role. */
export const serviceOptions = (ports: readonly PortFlag[], own: readonly Option[] = []): readonly Option[] => [
  ...sourceOptions(),
  ...ports.map(portOption),
  ...adminOptions(),
  ...own,
  ...commonOptions(),
  drainSecondsOption(),
];

/** Returns the flags for the address and the certificate of the ports for requests. */
export const requestPortOptions = (): readonly Option[] => [
  option('--address <address>', 'address of the ports for requests').default('127.0.0.1'),
  option('--tls-cert <file>', 'PEM file with the certificate of both ports; requires --tls-key'),
  option('--tls-key <file>', 'PEM file with the private key of the certificate'),
  option('--tls-client-ca <file>', 'PEM file with the CA certificates for client certificates'),
];

/** The counters of rate limits, for the roles that count. */
export const rateLimitRedisOptions = (): readonly Option[] => [
  option('--rate-limit-redis <url>', 'Redis that counts rate limits for all gateways, as redis://host:port').argParser(
    redisUrl,
  ),
  option('--rate-limit-redis-certs <dir>', 'directory with ca.crt, tls.crt and tls.key for that Redis'),
];

/** Returns the flags of a serving process, except its admin port and the flags of every role. */
export const servingOptions = (): readonly Option[] => [
  ...Object.values(READ_ONLY_PORT_FLAGS).map(portOption),
  option('--read-only-address <address>', 'address of the ports of --metrics-port and --read-config-port').default(
    '127.0.0.1',
  ),
  option('--access-log-overflow <what>', 'if the access log is read too slowly: drop lines or block requests')
    .choices(['drop', 'block'])
    .default('drop'),
  option(
    '--http1-parser <which>',
    'parser of HTTP/1.1: plain parses plain requests with less CPU time, node leaves all requests to Node.js',
    'GATEWAY_HTTP1_PARSER',
  )
    .choices(['plain', 'node'])
    .default('plain'),
  option(
    '--proxy-protocol-from <ranges>',
    'addresses or CIDR ranges of Envoys that hand over requests, separated by commas: their connections begin with a PROXY header',
  ).argParser(listOf(addressRanges)),
  option(
    '--http2-client <which>',
    'client of HTTP/2 upstreams: direct sends requests with less CPU time, node is that of Node.js',
    'GATEWAY_HTTP2_CLIENT',
  )
    .choices(['direct', 'node'])
    .default('direct'),
  option('--template-env <names>', 'variables that templates may read, separated by commas').argParser(listOf(names)),
  option('--error-pages <dir>', 'directory with templates for error and login pages, such as 404.html'),
  option('--graphql-cache <url>', 'Redis that caches results of GraphQL APIs, as redis://host:port').argParser(
    redisUrl,
  ),
  ...rateLimitRedisOptions(),
  option('--workers <n>', 'number of worker processes, or auto for one per CPU core').default(1).argParser(workers),
];

/** Returns the flags of a role that keeps files beyond its process. `what` names the secrets in them. */
export const stateOptions = (what: string): readonly Option[] => [
  option(
    '--state-dir <dir>',
    'directory for files that outlive this process, or none (default: $STATE_DIRECTORY, or below $XDG_STATE_HOME or ~/.local/state)',
  ),
  option('--snapshot-key-file <file>', `file with the key that encrypts ${what}`),
];

export const proxyNameOption = (): Option =>
  option('--proxy-name <name>', 'name of the proxy, which Gateways select with proxyNames').default('gateway-proxy');

/** Returns hidden flags that are reserved for later versions. */
export const notYetOptions = (reserved: readonly string[], notYet: (what: string) => never): readonly Option[] =>
  reserved.map((flag) =>
    new Option(`${flag} [value]`)
      .hideHelp()
      .preset('')
      .argParser(() => notYet(flag)),
  );

function addressRanges(text: string): readonly string[] {
  const ranges = text.split(',').map((each) => each.trim());
  const wrong = ranges.find((range) => !isRange(range));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`'${wrong}' is neither an address nor a CIDR range such as 10.0.0.0/8.`);
  return ranges;
}

function isRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return (
    bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
}
