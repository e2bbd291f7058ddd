import type { Context, ResourceRef, SecretValue, Secrets } from '@edge-gateway/core';

/** Which secrets a compiled part was made with. */
export interface SecretUse {
  /** The context to compile with: it notes what is read. */
  readonly context: Context;
  readonly used: Map<string, { readonly ref: ResourceRef; readonly value: SecretValue | undefined }>;
}

/** Wraps a context so that reads of secrets are noted. */
export function noteSecrets(context: Context): SecretUse {
  const used: SecretUse['used'] = new Map();
  const secrets: Secrets = {
    get(ref) {
      const value = context.secrets.get(ref);
      used.set(`${ref.namespace}/${ref.name}`, { ref, value });
      return value;
    },
  };
  return { context: { ...context, secrets, state: context.state.bind(context) }, used };
}

/** True when one of the secrets has another value now. */
export function isStale({ used }: SecretUse, secrets: Secrets): boolean {
  for (const { ref, value } of used.values()) if (secrets.get(ref) !== value) return true;
  return false;
}
