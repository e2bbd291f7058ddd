import { DEFAULT_NAMESPACE } from '@edge-gateway/core';

/** The key of a proxy's snapshot: `gw-system~<proxy>`. */
export function nodeKey(proxy: string): string {
  return `${DEFAULT_NAMESPACE}~${proxy}`;
}
