import { isIP } from 'node:net';
import { GatewayError, type Endpoint, type Route, isHost } from '@edge-gateway/core';

/** What the upstream gets as host. */
export interface HostRewrite {
  /** The host itself; `undefined` keeps that of the client, unless `auto`. */
  readonly literal: string | undefined;
  /** Takes the DNS name of the endpoint. */
  readonly auto: boolean;
  /** Keeps the client's host in `x-forwarded-host` when it is replaced. */
  readonly appendForwardedHost: boolean;
}

/** Compiles `hostRewrite`, `autoHostRewrite` and `appendXForwardedHost`. */
export function compileHostRewrite(options: Route['options']): HostRewrite {
  const literal = options.hostRewrite || undefined;
  if (literal !== undefined && !isHost(literal)) {
    throw new GatewayError('hostRewrite is not a host', { code: 'ERR_ROUTING_OPTION' });
  }
  return {
    literal,
    auto: literal === undefined && options.autoHostRewrite === true,
    appendForwardedHost: options.appendXForwardedHost !== false,
  };
}

/** The host for an endpoint: its DNS name; `undefined` for a bare address, which names no host. */
export function hostOfEndpoint(endpoint: Endpoint | undefined): string | undefined {
  return endpoint === undefined || isIP(endpoint.address) !== 0 ? undefined : endpoint.address;
}
