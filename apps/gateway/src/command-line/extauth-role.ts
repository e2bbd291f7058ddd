import * as flags from './flags.ts';
import type { PortFlag, Role, SourceSettings } from './role.ts';

/** The ports of the auth server. */
export const EXTAUTH_PORTS = {
  grpcPort: { flag: '--grpc-port', fallback: 8083, what: 'checks over gRPC (Envoy ext_authz)' },
  statsPort: { flag: '--stats-port', fallback: 9091, what: 'metrics and diagnostics' },
} as const satisfies Readonly<Record<string, PortFlag>>;

/** The port for checks over HTTP, which is closed by default. */
export const HTTP_CHECKS = { flag: '--http-port', what: 'checks over HTTP/1.1' } as const;

export interface ExtAuthSettings extends SourceSettings {
  readonly grpcPort: number;
  /** Port of checks over HTTP/1.1. Default: none. */
  readonly httpPort?: number;
  /** Address of the ports of checks. Default 127.0.0.1. */
  readonly address: string;
  /** Files with certificate and private key for the ports of checks, as PEM. Default: plain text. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** PEM file with the CA certificates for client certificates. Default: no client certificate is required. */
  readonly tlsClientCa?: string;
}

/** The auth server: decides about requests of Envoy and of other gateways with the AuthConfigs of a directory or a cluster. */
export const extAuthRole: Role<ExtAuthSettings> = {
  name: 'extauth',
  description: 'Serves the AuthConfigs in a directory or a Kubernetes cluster to Envoy and other gateways (ext_authz).',
  ports: { ...EXTAUTH_PORTS, httpPort: { ...HTTP_CHECKS, fallback: 0 } },
  check: flags.sourceProblem,
  options: () =>
    flags.serviceOptions(Object.values(EXTAUTH_PORTS), [
      flags
        .option(`${HTTP_CHECKS.flag} <port>`, `${HTTP_CHECKS.what}; closed unless set`, 'GATEWAY_EXTAUTH_HTTP_PORT')
        .argParser(flags.port),
      ...flags.requestPortOptions(),
    ]),
  async start(settings, process) {
    const { startExtAuth } = await import('../roles/extauth.ts');
    return startExtAuth(settings, process);
  },
};
