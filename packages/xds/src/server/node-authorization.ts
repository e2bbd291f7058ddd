import { alternativeNames, gatewayNamespace, type ServerTls } from '@edge-gateway/core';
import { parseClientNames, type ClientName } from './client-names.ts';
import { hasFormOf, isNameOf, nameFor } from './match-client-name.ts';
import type { NodeIdentity } from './node-identity.ts';

/** Certificates with such a name are bound to it, even if no names are required. */
const DEFAULT_NAMES = parseClientNames('spiffe://*/ns/{namespace}/proxy/{proxy}');
/** Maximum number of names of a certificate in a message. */
const MAX_SHOWN = 5;
const MAX_SHOWN_LENGTH = 256;

/** A client that must not use the proxy that it names. */
export class ForbiddenProxy extends Error {}

/** The certificate of a client. */
export interface ClientCall {
  getAuthContext(): { readonly sslPeerCertificate?: { readonly subjectaltname?: string | undefined } | undefined };
}

/** Throws {@link ForbiddenProxy} if the certificate of a client does not allow it to be a node of its proxy. */
export type AuthorizeNode = (call: ClientCall, identity: NodeIdentity) => void;

/** Options of {@link createNodeAuthorization}. */
export interface NodeAuthorizationOptions {
  readonly tls?: Pick<ServerTls, 'clientCa'> | undefined;
  /** Names of which each client certificate must have one. Default: only certificates with a name of the default form are bound to it. */
  readonly clientNames?: readonly ClientName[] | undefined;
}

/**
 * Creates the check of nodes by their client certificates. Subject names and wildcards allow nothing. A certificate with several names allows several
 * proxies. `{namespace}` is the namespace of this control plane, whose proxies it serves, whatever namespace a node claims. Without client
 * certificates, everything is allowed. Throws if `clientNames` are set without them.
 */
export function createNodeAuthorization({ tls, clientNames }: NodeAuthorizationOptions): AuthorizeNode {
  if (tls?.clientCa === undefined) {
    if (clientNames) throw new Error('clientNames requires tls.clientCa');
    return () => {};
  }
  const allowed = clientNames ?? DEFAULT_NAMES;
  return (call, { proxy }) => {
    const certificate = call.getAuthContext().sslPeerCertificate;
    const names = certificate && alternativeNames(certificate.subjectaltname);
    const wanted = { namespace: gatewayNamespace(), proxy };
    const has = (isMatch: (of: ClientName, name: string) => boolean): boolean =>
      names?.some(({ kind, name }) => allowed.some((each) => each.kind === kind && isMatch(each, name))) ?? false;
    if (has((each, name) => isNameOf(each, name, wanted))) return;
    if (names && !clientNames && !has(hasFormOf)) return;
    throw new ForbiddenProxy(
      `the client certificate does not allow proxy ${proxy}: it has ${shown(names ?? [])}, and must have ` +
        `${allowed.map((each) => `${each.kind} ${nameFor(each, wanted)}`).join(' or ')}`,
    );
  };
}

function shown(names: readonly { readonly kind: string; readonly name: string }[]): string {
  if (names.length === 0) return 'no subject alternative names';
  const first = names.slice(0, MAX_SHOWN).map(({ kind, name }) => `${kind} ${name}`);
  const rest = names.length - first.length;
  return `${first.join(', ').slice(0, MAX_SHOWN_LENGTH)}${rest > 0 ? ` and ${rest} more` : ''}`;
}
