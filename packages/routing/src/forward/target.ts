import {
  readCertificateFiles,
  type Context,
  type GatewayError,
  type SecretValue,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { ERROR_CODES, routingError } from '../error-codes.ts';

export interface Target {
  readonly upstream: SnapshotUpstream;
  /** The path prefix of each request, without a trailing slash. */
  readonly basePath: string;
  /** `host[:port]` as a Host header names it. */
  readonly host: string;
  readonly roots: SecretValue | undefined;
}

/** Parses `http(s)://host[:port][/base]`. Throws `ERR_ROUTING_FORWARD_OPTIONS`. `rootCaFile` is a PEM file. */
export function parseTarget(target: string, rootCaFile: string | undefined): Target {
  const url = URL.parse(target);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refuse('target must be an http:// or https:// URL');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw refuse('target must not contain credentials, a query or a fragment');
  }
  const tls = url.protocol === 'https:';
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (tls ? 443 : 80));
  return {
    upstream: {
      name: `forward-to-${address}-${port}`,
      ref: { name: `forward-to-${address}-${port}`, namespace: 'gw-system' },
      spec: rootCaFile === undefined ? {} : { sslConfig: { sslFiles: { rootCa: rootCaFile } } },
      endpoints: [{ address, port, weight: 1 }],
      tls,
    },
    basePath: url.pathname.replace(/\/+$/, ''),
    host: url.host,
    roots: rootCaFile === undefined ? undefined : readRoots(rootCaFile),
  };
}

/** Returns a context for the target: the given one, with the root certificates of the target added to its secrets. */
export function withRoots(context: Context, { roots }: Target): Context {
  if (!roots) return context;
  const secrets = { get: context.secrets.get.bind(context.secrets), files: () => roots };
  return { ...context, state: context.state.bind(context), secrets };
}

function readRoots(rootCa: string): SecretValue {
  const { secret, problem } = readCertificateFiles({ rootCa });
  if (!secret) throw refuse(`rootCaFile: ${problem?.message}`);
  return secret;
}

export function refuse(reason: string): GatewayError {
  const code = 'ERR_ROUTING_FORWARD_OPTIONS';
  return routingError(code, `${ERROR_CODES[code].message}: ${reason}`);
}
