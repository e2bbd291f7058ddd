import { isApiError } from '../client/api-error.ts';
import type { ClusterClient } from '../client/cluster-client.ts';
import { pathOf, type ObjectMetadata } from '../watch/cluster-object.ts';

/** Who leads, as the `Lease` of the cluster says. */
export interface LeaseRecord {
  readonly metadata: ObjectMetadata;
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** Reads and writes one `Lease`. */
export interface LeaseStore {
  /** Returns `undefined` if there is none. */
  read(signal: AbortSignal): Promise<LeaseRecord | undefined>;
  /** Writes a lease that is still as it was read. Returns `undefined` if somebody else was faster. */
  write(
    spec: LeaseRecord['spec'],
    before: LeaseRecord | undefined,
    signal: AbortSignal,
  ): Promise<LeaseRecord | undefined>;
}

const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' } as const;
/** A request that takes longer is too late to be of use. */
const TIMEOUT_MS = 5_000;

export function leaseStore(client: Pick<ClusterClient, 'send'>, { namespace, name }: LeaseName): LeaseStore {
  const path = pathOf(LEASES, namespace, name);
  return {
    async read(signal) {
      try {
        return await client.send<LeaseRecord>({ path, signal, timeoutMs: TIMEOUT_MS });
      } catch (error) {
        if (isApiError(error, 404)) return undefined;
        throw error;
      }
    },
    async write(spec, before, signal) {
      const metadata = { name, namespace, ...(before && { resourceVersion: before.metadata.resourceVersion }) };
      const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
      const target = before
        ? ({ method: 'PUT', path } as const)
        : ({ method: 'POST', path: pathOf(LEASES, namespace) } as const);
      try {
        return await client.send<LeaseRecord>({ ...target, body, signal, timeoutMs: TIMEOUT_MS });
      } catch (error) {
        if (isApiError(error, 409)) return undefined;
        throw error;
      }
    },
  };
}

/** The namespace and the name of a Lease. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}
