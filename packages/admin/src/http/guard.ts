import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Next } from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';

/**
 * The first handler of every admin port. Sets the headers of all responses, and rejects requests that a web page of
 * another site could send: with a foreign name in Host (DNS rebinding needs a name, so addresses pass), or with another
 * Origin. Errors: `ERR_ADMIN_HOST_REFUSED`, `ERR_ADMIN_ORIGIN_REFUSED`. With `any`, every name in Host is allowed.
 */
export function guard(
  allowedHosts: readonly string[] | 'any' = [],
): (req: IncomingMessage, res: ServerResponse, next: Next) => void {
  const names = allowedHosts === 'any' ? [] : allowedHosts;
  const allowed = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  const isRefused = (host: string): boolean => allowedHosts !== 'any' && !isAllowed(hostName(host), allowed);
  return function adminGuard(req, res, next) {
    res.setHeader('cache-control', 'no-cache, max-age=0');
    res.setHeader('x-content-type-options', 'nosniff');
    const { host, origin } = req.headers;
    if (host !== undefined && isRefused(host)) next(adminError('ERR_ADMIN_HOST_REFUSED'));
    else if (origin !== undefined && !isSameOrigin(origin, host)) next(adminError('ERR_ADMIN_ORIGIN_REFUSED'));
    else if (isFetchedFromElsewhere(req)) next(adminError('ERR_ADMIN_ORIGIN_REFUSED'));
    else next();
  };
}

/** The name in a Host header, lower case, without port and brackets; `undefined` if it is invalid. */
function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isAllowed(name: string | undefined, allowed: ReadonlySet<string>): boolean {
  return name !== undefined && (isIP(name) !== 0 || allowed.has(name));
}

/** Returns true for requests from other sites that have no Origin, such as those for images; links are allowed. */
function isFetchedFromElsewhere({ method, headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  const isLink = method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
  return (site === 'cross-site' || site === 'same-site') && !isLink;
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`;
}
