import type { AuthMethodKind, CookieTest } from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { blockOf } from './method-of.ts';

/** The request headers, in lower case, that only the steps of these auth configs may fill, each once. */
export function grantedHeadersOf(specs: readonly AuthConfigSpec[], kinds: readonly AuthMethodKind[]): string[] {
  return [...new Set(ofEachStep(specs, kinds, (kind, spec) => kind.grantedHeaders?.(spec) ?? []))];
}

/** Returns the test for cookies that only the steps of these auth configs read. */
export function hiddenCookiesOf(specs: readonly AuthConfigSpec[], kinds: readonly AuthMethodKind[]): CookieTest {
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
