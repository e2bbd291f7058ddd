import type { AuthMethod, AuthMethodKind, Context, CookieTest } from '@edge-gateway/core';
import type { AuthConfigSpec, AuthStep } from '@edge-gateway/core/schema';
import { extauthError } from '../error-codes.ts';

/** Blocks that hold one of several modes instead of a method. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  oauth2: ['oidcAuthorizationCode', 'oauth2', 'accessTokenValidation'],
  passThroughAuth: ['grpc', 'http'],
};

export interface Block {
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
    throw extauthError('ERR_EXTAUTH_METHOD', `${parts.id}: the method ${block?.type ?? '(none)'} is not available`);
  }
  return kind.create(block.spec, { id: parts.id, context: parts.context });
}

/** What only the steps of these auth configs may set and read. */
export function hiddenOf(specs: readonly AuthConfigSpec[], kinds: readonly AuthMethodKind[]) {
  return { headers: grantedHeadersOf(specs, kinds), cookies: hiddenCookiesOf(specs, kinds) };
}

/** The request headers, in lower case, that only the steps of these auth configs may fill, each once. */
function grantedHeadersOf(specs: readonly AuthConfigSpec[], kinds: readonly AuthMethodKind[]): string[] {
  return [...new Set(ofEachStep(specs, kinds, (kind, spec) => kind.grantedHeaders?.(spec) ?? []))];
}

/** Returns the test for cookies that only the steps of these auth configs read. */
function hiddenCookiesOf(specs: readonly AuthConfigSpec[], kinds: readonly AuthMethodKind[]): CookieTest {
  const tests = ofEachStep(specs, kinds, (kind, spec) => kind.hiddenCookies?.(spec) ?? []);
  return (name) => tests.some((test) => test(name));
}

function ofEachStep<T>(
  specs: readonly AuthConfigSpec[],
  kinds: readonly AuthMethodKind[],
  read: (kind: AuthMethodKind, spec: unknown) => T | readonly T[],
): T[] {
  return specs.flatMap(({ configs = [] }) =>
    configs.flatMap((step) => {
      const block = blockOf(step);
      const kind = kinds.find(({ type }) => type === block?.type);
      return kind ? read(kind, block?.spec) : [];
    }),
  );
}
