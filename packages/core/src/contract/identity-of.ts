import type { IncomingMessage } from 'node:http';
import { factsOf } from './facts.ts';
import type { Identity } from './identity.ts';

/**
 * Returns the identity that `jwt`, `oidc` or `extauth` verified, `undefined` if none of them did. Of several
 * the last one wins. A client cannot forge it, unlike a header that no handler removes.
 *
 * @example
 * app.get('/me', (req, res) => {
 *   res.json({ subject: identityOf(req)?.subject, groups: identityOf(req)?.groups });
 * });
 */
export function identityOf(req: IncomingMessage): Identity | undefined {
  return factsOf(req).identity;
}
