import type { ControlPlaneState } from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';

/** Returns the number of resources, including rejected ones, without those that the gateway itself creates. */
export function countResources({ resources, statuses }: Pick<ControlPlaneState, 'resources' | 'statuses'>): number {
  const keys = new Set([...resources.keys(), ...statuses.keys()]);
  return [...keys].filter((key) => !key.startsWith('Proxy/')).length;
}

/**
 * Returns the error of a check that found nothing to check: a wrong path must not look like a valid configuration.
 * A gateway starts with an empty directory, because its resources may come later.
 */
export function noResources(paths: readonly string[], { issues }: Pick<ControlPlaneState, 'issues'>): Error {
  const searched = issues.length === 0 ? ' (no *.yaml, *.yml or *.json file)' : '';
  return cliError('ERR_CLI_NOT_FOUND', `no resources found in ${paths.join(', ')}${searched}`);
}
