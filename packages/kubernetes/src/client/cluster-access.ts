import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { kubernetesError } from '../error-codes.ts';

/** Where the API server and the credentials for it are. */
export type ClusterAccess = KubeconfigAccess | ServiceAccountAccess;

/** Access by kubeconfig files. */
export interface KubeconfigAccess {
  /** Kubeconfig files; of entries with the same name, the first wins. */
  readonly kubeconfig: readonly string[];
  /** Default: the current context of the first file that has one. */
  readonly context?: string;
}

/** Access by the service account of a pod. */
export interface ServiceAccountAccess {
  /** Folder with `token`, `ca.crt` and `namespace`. */
  readonly serviceAccount: string;
  readonly host: string;
  readonly port: string;
}

/** What the user asked for, and the environment of the process. */
export interface ClusterChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: where Kubernetes mounts it. */
  readonly serviceAccount?: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns whether this process runs in a pod with a service account. */
export function isInCluster(env: ClusterChoice['env'], serviceAccount: string = SERVICE_ACCOUNT): boolean {
  return !!env.KUBERNETES_SERVICE_HOST && existsSync(join(serviceAccount, 'token'));
}

/**
 * Returns the access to the cluster: by the given kubeconfig, else by the service account of the pod, else by `KUBECONFIG`, else by
 * `~/.kube/config`. A context without a kubeconfig is one of the user's own files. Throws `ERR_KUBERNETES_ACCESS` if there is none.
 *
 * @example
 * findClusterAccess({ context: 'kind-dev', env: process.env });
 */
export function findClusterAccess(choice: ClusterChoice): ClusterAccess {
  const { kubeconfig, context, env, serviceAccount = SERVICE_ACCOUNT } = choice;
  if (!kubeconfig && !context && isInCluster(env, serviceAccount)) {
    return { serviceAccount, host: env.KUBERNETES_SERVICE_HOST!, port: env.KUBERNETES_SERVICE_PORT || '443' };
  }
  const files = kubeconfigFiles(kubeconfig, env);
  if (files.length === 0) {
    throw kubernetesError(
      'ERR_KUBERNETES_ACCESS',
      'no cluster: there is no service account, and neither KUBECONFIG nor ~/.kube/config exists; name a file with --kubeconfig',
    );
  }
  return { kubeconfig: files, ...(context && { context }) };
}

function kubeconfigFiles(kubeconfig: string | undefined, env: ClusterChoice['env']): string[] {
  if (kubeconfig) return [kubeconfig];
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file && existsSync(file));
  if (named.length > 0 || !env.HOME) return named;
  const own = join(env.HOME, '.kube', 'config');
  return existsSync(own) ? [own] : [];
}
