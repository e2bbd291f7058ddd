import type { ProxySpec } from '../schema/kind/proxy.ts';
import { inflateSpec } from '../syntax/compressed-spec.ts';
import { reporterOf, type Check } from './check.ts';

const invalid = reporterOf('INVALID_PROXY');

/** Returns problems of a Proxy. */
export const checkProxy: Check<ProxySpec> = ({ listeners, compressedSpec }, at) => {
  if (!compressedSpec) return [];
  const path = [...at, 'compressedSpec'];
  return [
    ...invalid(listeners && 'compressedSpec contains the listeners: it cannot be set together with listeners', path),
    ...invalid(problemOf(compressedSpec), path),
  ];
};

function problemOf(text: string): string | undefined {
  try {
    return Array.isArray(inflateSpec(text)['listeners']) ? undefined : 'invalid compressedSpec: it has no listeners';
  } catch (error) {
    return `invalid compressedSpec: ${(error as Error).message}`;
  }
}
