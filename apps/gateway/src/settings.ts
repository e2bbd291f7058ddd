import { readBuildInfo } from '@edge-gateway/core';
import type { ConfiguredSettings, PortFlag, RoleSettings, StateSettings } from './command-line/role.ts';

/** Version and commit of this program. */
export const BUILD = readBuildInfo(new URL('../', import.meta.url));

/** The ports that flags of the gateway set, and what listens there. */
export const PORT_FLAGS = {
  httpPort: { flag: '--http-port', fallback: 8080, what: 'plain port of the default gateway' },
  httpsPort: { flag: '--https-port', fallback: 8443, what: 'TLS port of the default gateway' },
  adminPort: { flag: '--admin-port', fallback: 19_000, what: 'proxy admin' },
  statsPort: { flag: '--stats-port', fallback: 9091, what: 'control-plane diagnostics' },
  devAdminPort: { flag: '--dev-admin-port', fallback: 10_010, what: 'deprecated developer API (Settings devMode)' },
} as const satisfies Readonly<Record<string, PortFlag>>;

/** The ports of a proxy for scrapers and readers, which are closed unless their flags are set. */
export const READ_ONLY_PORT_FLAGS = {
  metricsPort: { flag: '--metrics-port', what: 'probes and metrics of the proxy, by convention 8081' },
  readConfigPort: { flag: '--read-config-port', what: 'read-only part of the proxy admin, by convention 8082' },
} as const satisfies Readonly<Record<string, PortFlag>>;

/** The settings of a process that serves. Port 0 is any free one. */
export interface ServingSettings extends RoleSettings {
  readonly adminPort: number;
  /** Port for probes and metrics. Default: none. */
  readonly metricsPort?: number;
  /** Port for the read-only part of the proxy admin. Default: none. */
  readonly readConfigPort?: number;
  /** Address of these two ports. Default 127.0.0.1. */
  readonly readOnlyAddress: string;
  readonly proxyName: string;
  /** Number of processes that serve. Default 1: this process. */
  readonly workers: number;
  /** Whether lines are dropped or requests blocked when the reader of the access log is too slow. Default `drop`. */
  readonly accessLogOverflow: 'drop' | 'block';
  /** Whether plain requests of HTTP/1.1 are read without the parser of Node.js. Default `plain`. */
  readonly http1Parser: 'plain' | 'node';
  /** Addresses and CIDR ranges of proxies whose connections begin with a PROXY header. Default: none. */
  readonly proxyProtocolFrom?: readonly string[];
  /** Whether requests are sent to HTTP/2 upstreams without the HTTP/2 client of Node.js. Default `direct`. */
  readonly http2Client: 'direct' | 'node';
  /** Environment variables that templates may read. Default: none. */
  readonly templateEnv?: readonly string[];
  /** Directory with templates for error and login pages. Default: the built-in pages. */
  readonly errorPages?: string;
  /** URL of the Redis that keeps results of GraphQL APIs. Default: they are kept in memory. */
  readonly graphqlCache?: string;
  /** URL of the Redis that counts rate limits. Default: they are counted in memory. */
  readonly rateLimitRedis?: string;
  /** Directory with the certificates for that Redis. Default: the roots of Node.js. */
  readonly rateLimitRedisCerts?: string;
}

/** The ports of a process that translates the resources of proxies. */
export interface ListeningSettings {
  /** Of the default gateways, when no Gateway resource exists. */
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly devAdminPort: number;
}

/** The settings of control plane and data plane in one process. */
export interface GatewaySettings extends ServingSettings, ConfiguredSettings, ListeningSettings, StateSettings {}
