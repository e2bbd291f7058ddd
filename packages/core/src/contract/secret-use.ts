import { coreError } from '../error-codes.ts';
import type { Context } from './concern.ts';
import type { Secrets, SecretValue } from './snapshot.ts';

/** The value of a secret that has not been received. Never equal to another value. */
const PENDING = Symbol('pending');

interface Use {
  readonly value: SecretValue | undefined | typeof PENDING;
  read(secrets: Secrets): SecretValue | undefined;
}

/** The secrets that a compiled part of a configuration read. */
export interface SecretUse {
  /** The context to compile with: it records which secrets are read. */
  readonly context: Context;
  readonly used: UsedSecrets;
}

/** Created with the first secret: most parts read none. */
class UsedSecrets {
  #uses: Map<string, Use> | undefined;

  get size(): number {
    return this.#uses?.size ?? 0;
  }

  set(id: string, use: Use): void {
    this.#uses ??= new Map();
    this.#uses.set(id, use);
  }

  values(): Iterable<Use> {
    return this.#uses?.values() ?? [];
  }
}

/**
 * Returns a context that records which secrets are read from it. `onFirst` is called when the first one is. Reading a secret that has not been received
 * throws `ERR_CORE_SECRETS_PENDING`, so that nothing is compiled or decided without it.
 */
export function noteSecrets(context: Context, onFirst?: () => void): SecretUse {
  const used = new UsedSecrets();
  const note = (id: string, read: Use['read']): SecretValue | undefined => {
    const value = read(context.secrets);
    const isPending = value === undefined && context.secrets.isPending === true;
    if (used.size === 0) onFirst?.();
    used.set(id, { value: isPending ? PENDING : value, read });
    if (isPending) throw coreError('ERR_CORE_SECRETS_PENDING', `secret ${id} has not been received yet`);
    return value;
  };
  const secrets: Secrets = {
    get: (ref) => note(`${ref.namespace}/${ref.name}`, (from) => from.get(ref)),
    ...(context.secrets.files && {
      files: (files) => note(JSON.stringify(files), (from) => from.files?.(files)),
    }),
    ...(context.secrets.sds && {
      sds: (sds) => note(JSON.stringify(sds), (from) => from.sds?.(sds)),
    }),
  };
  return { context: { ...context, secrets, state: context.state.bind(context) }, used };
}

/** Returns true if one of the read secrets changed since. */
export function isStale({ used }: Pick<SecretUse, 'used'>, secrets: Secrets): boolean {
  for (const { read, value } of used.values()) if (read(secrets) !== value) return true;
  return false;
}
