import { resolve } from 'node:path';
import type { ClusterClient } from '@edge-gateway/kubernetes';
import type { Io } from '../io.ts';

/** The flags that choose a cluster. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly kubeContext?: string;
}

/** Returns true if a call is about a cluster. */
export const wantsCluster = ({ kubeconfig, kubeContext }: ClusterFlags): boolean =>
  kubeconfig !== undefined || kubeContext !== undefined;

/** Opens a client of the cluster of the flags; without them, that of kubectl. It is closed at the end of the call. */
export async function openCluster(io: Io, { kubeconfig, kubeContext: context }: ClusterFlags): Promise<ClusterClient> {
  // Loaded only for a cluster: the library for kubeconfigs is large.
  const { createClusterClient, findClusterAccess } = await import('@edge-gateway/kubernetes');
  const file = kubeconfig === undefined ? undefined : resolve(io.cwd, kubeconfig);
  const access = findClusterAccess({ kubeconfig: file, context, env: io.env });
  const client = await createClusterClient(access, { userAgent: 'gatewayctl' });
  io.onEnd?.(() => client.close());
  return client;
}
