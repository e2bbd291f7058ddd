import { DEFAULT_NAMESPACE, type Secrets, type SecretValue } from '@edge-gateway/core';

/** A reference to a Secret in options. */
export interface Ref {
  readonly name?: string;
  readonly namespace?: string;
}

/** Returns a Secret; `undefined` if it does not exist. */
export function findSecret(
  secrets: Secrets,
  { name = '', namespace = DEFAULT_NAMESPACE }: Ref,
): SecretValue | undefined {
  return secrets.get({ name, namespace });
}

/** Returns the name of a Secret for messages. */
export function nameOf({ name = '', namespace = DEFAULT_NAMESPACE }: Ref): string {
  return `${namespace}.${name}`;
}
