import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { needed, valueOf, type Flags } from './flags.ts';

const UNITS = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'];

/** Adds the flags that {@link virtualServiceSpec} reads. */
export function addVirtualServiceFlags(command: Command): void {
  command
    .option('--display-name <name>', 'display name; default: the name')
    .option('--domains <domains>', 'domains, separated by commas', '*')
    .option('--enable-rate-limiting', 'limit the requests of each client address')
    .option('--rate-limit-time-unit <unit>', `unit of that limit: ${UNITS.join(', ')}; default: MINUTE`)
    .option('--rate-limit-requests <number>', 'requests per unit; default: 100');
}

/** Returns the `spec` of a virtual service without routes. */
export function virtualServiceSpec(flags: Flags, name: string): Record<string, unknown> {
  const domains = needed(flags, 'domains')
    .split(',')
    .map((domain) => domain.trim());
  const limit = rateLimitOf(flags);
  return {
    displayName: valueOf(flags, 'display-name') ?? name,
    virtualHost: { domains, ...(limit && { options: { ratelimitBasic: { anonymousLimits: limit } } }) },
  };
}

function rateLimitOf(flags: Flags): Record<string, unknown> | undefined {
  const unit = valueOf(flags, 'rate-limit-time-unit');
  const requests = valueOf(flags, 'rate-limit-requests');
  if (flags['enableRateLimiting'] !== true) {
    const stray = unit === undefined ? (requests === undefined ? undefined : 'requests') : 'time-unit';
    if (stray) throw cliError('ERR_CLI_USAGE', `--rate-limit-${stray} requires --enable-rate-limiting`);
    return undefined;
  }
  const chosen = (unit ?? 'MINUTE').toUpperCase();
  if (!UNITS.includes(chosen))
    throw cliError('ERR_CLI_USAGE', `--rate-limit-time-unit must be one of ${UNITS.join(', ')}, not '${unit}'`);
  if (requests !== undefined && !/^\d{1,9}$/.test(requests))
    throw cliError('ERR_CLI_USAGE', `--rate-limit-requests must be a number from 0, not '${requests}'`);
  return { requestsPerUnit: Number(requests ?? 100), unit: chosen };
}

/** Adds the flags that {@link staticUpstreamSpec} reads. */
export function addStaticUpstreamFlags(command: Command): void {
  command
    .option('--static-hosts <hosts>', 'hosts, addr:port,addr:port; default port: 80')
    .option('--static-outbound-tls', 'connect to the hosts over TLS')
    .option('--service-spec-type <type>', 'type of the service spec: rest or grpc');
}

/** Returns the `spec` of an upstream with fixed hosts. */
export function staticUpstreamSpec(flags: Flags): Record<string, unknown> {
  const hosts = needed(flags, 'static-hosts').split(',').map(hostOf);
  const type = valueOf(flags, 'service-spec-type');
  if (type !== undefined && type !== 'rest' && type !== 'grpc')
    throw cliError('ERR_CLI_USAGE', `--service-spec-type must be rest or grpc, not '${type}'`);
  const useTls = flags['staticOutboundTls'] === true && { useTls: true };
  return { static: { hosts, ...useTls, ...(type && { serviceSpec: { [type]: {} } }) } };
}

const DEFAULT_PORT = 80;

/** `addr`, `addr:port`, or an IPv6 address in brackets. */
function hostOf(written: string): { addr: string; port: number } {
  const text = written.trim();
  const [, bracketed, plain, port] = /^(?:\[([\da-fA-F:.]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const addr = bracketed ?? plain;
  const number = Number(port ?? DEFAULT_PORT);
  if (addr !== undefined && number >= 1 && number <= 65_535) return { addr, port: number };
  const message = `--static-hosts: invalid host '${text}': write addr or addr:port, with a port from 1 to 65535`;
  throw cliError('ERR_CLI_USAGE', message);
}

/** A destination of a new upstream group. */
export interface WeightedUpstream {
  readonly namespace: string;
  readonly name: string;
  readonly weight: number;
}

/** Parses `ns.name=weight,…`. A weight that is 0 or not a number becomes 1. */
export function weightedUpstreams(flags: Flags): WeightedUpstream[] {
  const written = valueOf(flags, 'weighted-upstreams')?.trim();
  if (!written) throw cliError('ERR_CLI_USAGE', 'missing --weighted-upstreams: at least one upstream is required');
  return written.split(',').map((piece) => {
    const [, namespace, name, weight] = /^\s*([^.=\s]+)\.([^=\s]+)(?:=(.*))?$/.exec(piece) ?? [];
    if (namespace === undefined || name === undefined)
      throw cliError('ERR_CLI_USAGE', `--weighted-upstreams must have the form namespace.name=weight, not '${piece}'`);
    const number = /^\d{1,9}$/.test(weight?.trim() ?? '') ? Number(weight) : 1;
    return { namespace, name, weight: number || 1 };
  });
}

/** Returns the `spec` of an upstream group. */
export function upstreamGroupSpec(upstreams: readonly WeightedUpstream[]): Record<string, unknown> {
  const destinations = upstreams.map(({ namespace, name, weight }) => ({
    destination: { upstream: { name, namespace } },
    weight,
  }));
  return { destinations };
}
