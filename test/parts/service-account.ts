import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesApi } from './kubernetes.ts';

/** Returns a kubeconfig with the rights of a service account. */
export async function serviceAccountKubeconfig(
  api: KubernetesApi,
  account: string,
  namespace: string,
): Promise<string> {
  const token = (await api.kubectl(['create', 'token', account, '-n', namespace])).trim();
  const config = JSON.parse(readFileSync(api.kubeconfig, 'utf8')) as Record<string, unknown>;
  const file = join(api.directory, `kubeconfig-${namespace}-${account}`);
  const contexts = [{ name: account, context: { cluster: 'test', user: account } }];
  const users = [{ name: account, user: { token } }];
  writeFileSync(file, JSON.stringify({ ...config, users, contexts, 'current-context': account }), { mode: 0o600 });
  return file;
}
