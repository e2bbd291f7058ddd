import type { IncomingMessage } from 'node:http';
import { checkRequest, type RequestRules } from './check-request.ts';
import { checkUpgrade } from './check-upgrade.ts';
import { refusal, type Refusal } from './refusal.ts';

export interface HeadRules {
  readonly limits: RequestRules;
  readonly isUpgrade: boolean;
  /** Returns why a host must not be served on the connection of a request. */
  readonly checkConnection?: (req: IncomingMessage) => Refusal | undefined;
}

/**
 * Returns why a listener rejects a request before the router sees it, or `undefined`. Listeners and `explainRequest` both
 * ask this function, so that explanations match the served behaviour.
 */
export function checkHead(
  req: IncomingMessage,
  { limits, isUpgrade, checkConnection }: HeadRules,
): Refusal | undefined {
  if (req.method === 'CONNECT') return refusal('ERR_ROUTING_METHOD_NOT_ALLOWED', { detail: 'CONNECT' });
  return checkRequest(req, limits) ?? checkConnection?.(req) ?? (isUpgrade ? checkUpgrade(req) : undefined);
}

/** The response to `OPTIONS *`, which asks about the server and not about a route. */
export const SERVER_OPTIONS = { status: 204, headers: ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'] };

/** True if a request whose head passed the checks is `OPTIONS *`: the listener itself responds. */
export function isServerWide({ url }: Pick<IncomingMessage, 'url'>): boolean {
  return url === '*';
}
