import { gatewayNamespace, secretText, type Secrets, type SecretValue } from '@edge-gateway/core';
import { failure } from '../error-codes.ts';

/** A reference to a Secret in options. */
export interface Ref {
  readonly name?: string;
  readonly namespace?: string;
}

/** Returns a Secret; `undefined` if it does not exist. */
export function findSecret(
  secrets: Secrets,
  { name = '', namespace = gatewayNamespace() }: Ref,
): SecretValue | undefined {
  return secrets.get({ name, namespace });
}

/** Returns the name of a Secret for messages. */
export function nameOf({ name = '', namespace = gatewayNamespace() }: Ref): string {
  return `${namespace}.${name}`;
}

/** Returns the `client-secret` of a Secret. Throws `ERR_OIDC_SECRET` if there is none. */
export function clientSecretOf(ref: Ref, secrets: Secrets): string {
  const text = secretText(findSecret(secrets, ref), 'client-secret');
  if (!text) throw failure('ERR_OIDC_SECRET', `secret ${nameOf(ref)} has no client-secret`);
  return text;
}
