import { GatewayError, type AuthMethod, type AuthMethodKind, type Context } from '@edge-gateway/core';
import type { AuthStep } from '@edge-gateway/core/schema';

/** Blocks that hold one of several modes instead of a method. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  oauth2: ['oidcAuthorizationCode', 'oauth2', 'accessTokenValidation'],
  passThroughAuth: ['grpc', 'http'],
};

interface Block {
  readonly type: string;
  readonly spec: unknown;
}

/** Returns the method that a step sets: `basicAuth`, or with its mode `oauth2.oidcAuthorizationCode`. */
export function blockOf(step: AuthStep): Block | undefined {
  const { name: _name, ...blocks } = step;
  const [type, spec] = Object.entries(blocks).find(([, block]) => block !== undefined) ?? [];
  if (type === undefined) return undefined;
  const mode = NESTED[type]?.find((each) => (spec as Record<string, unknown>)[each] !== undefined);
  if (!NESTED[type]) return { type, spec };
  if (mode === undefined) return undefined;
  return type === 'oauth2'
    ? { type: `${type}.${mode}`, spec: (spec as Record<string, unknown>)[mode] }
    : { type: `${type}.${mode}`, spec };
}

/** Creates the method of a step. Throws `ERR_EXTAUTH_METHOD` if it sets none, or one that is not available. */
export function methodOf(
  step: AuthStep,
  parts: { readonly kinds: readonly AuthMethodKind[]; readonly context: Context; readonly id: string },
): AuthMethod {
  const block = blockOf(step);
  const kind = block && parts.kinds.find(({ type }) => type === block.type);
  if (!block || !kind) {
    throw new GatewayError(`${parts.id}: the method ${block?.type ?? '(none)'} is not available`, {
      code: 'ERR_EXTAUTH_METHOD',
    });
  }
  return kind.create(block.spec, { id: parts.id, context: parts.context });
}
