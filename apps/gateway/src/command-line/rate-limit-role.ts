import * as flags from './flags.ts';
import type { PortFlag, Role, SourceSettings } from './role.ts';

/** The ports of the rate limit server. */
export const RATE_LIMIT_PORTS = {
  grpcPort: { flag: '--grpc-port', fallback: 18_081, what: 'requests over gRPC (Envoy ratelimit)' },
  httpPort: { flag: '--http-port', fallback: 18_080, what: 'requests in JSON, and health checks' },
  statsPort: { flag: '--stats-port', fallback: 9091, what: 'metrics and diagnostics' },
} as const satisfies Readonly<Record<string, PortFlag>>;

export interface RateLimitSettings extends SourceSettings {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** Address of the ports for requests. Default 127.0.0.1. */
  readonly address: string;
  /** Files with certificate and private key for the ports for requests, as PEM. Default: plain text. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** PEM file with the CA certificates for client certificates. Default: no client certificate is required. */
  readonly tlsClientCa?: string;
  /** URL of the Redis that counts, and the directory with its certificates. Default: in memory. */
  readonly rateLimitRedis?: string;
  readonly rateLimitRedisCerts?: string;
}

/** The rate limit server: counts requests of Envoy and of other gateways by the rules of a directory or a cluster. */
export const rateLimitRole: Role<RateLimitSettings> = {
  name: 'rate-limit',
  description: 'Serves the rate limits in a directory or a Kubernetes cluster to Envoy and other gateways (ratelimit).',
  ports: RATE_LIMIT_PORTS,
  check: flags.sourceProblem,
  options: () =>
    flags.serviceOptions(Object.values(RATE_LIMIT_PORTS), [
      ...flags.requestPortOptions(),
      ...flags.rateLimitRedisOptions(),
    ]),
  async start(settings, process) {
    const { startRateLimit } = await import('../roles/rate-limit.ts');
    return startRateLimit(settings, process);
  },
};
