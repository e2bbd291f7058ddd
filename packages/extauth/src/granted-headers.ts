import type { AuthMethodKind } from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { blockOf } from './method-of.ts';

/** The request headers, in lower case, that only the steps of these auth configs may fill, each once. */
export function grantedHeadersOf(specs: readonly AuthConfigSpec[], kinds: readonly AuthMethodKind[]): string[] {
  const names = specs.flatMap(({ configs = [] }) =>
    configs.flatMap((step) => {
      const block = blockOf(step);
      const kind = kinds.find(({ type }) => type === block?.type);
      return kind?.grantedHeaders?.(block?.spec) ?? [];
    }),
  );
  return [...new Set(names)];
}
