import { DEFAULT_NAMESPACE, type Secrets, type SecretValue } from '@edge-gateway/core';

/** A reference as it is written. */
export interface Ref {
  readonly name?: string;
  readonly namespace?: string;
}

export function findSecret(
  secrets: Secrets,
  { name = '', namespace = DEFAULT_NAMESPACE }: Ref,
): SecretValue | undefined {
  return secrets.get({ name, namespace });
}

/** For messages. */
export function nameOf({ name = '', namespace = DEFAULT_NAMESPACE }: Ref): string {
  return `${namespace}.${name}`;
}
