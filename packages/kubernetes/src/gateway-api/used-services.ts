import type { Service } from '../discovery/cluster-objects.ts';
import { GATEWAY_NAME_LABEL } from './gateway-status.ts';

/**
 * Returns a text that changes with what the translation reads of Services. Endpoints and all other fields change far more often, and must not
 * cause a translation.
 */
export function usedServices(services: ReadonlyMap<string, Service> | undefined): string {
  const used = Array.from(services ?? [], ([key, { ports, addresses, labels }]) => [
    key,
    ports.map(({ port }) => port),
    labels[GATEWAY_NAME_LABEL],
    addresses,
  ]);
  return JSON.stringify(used);
}
