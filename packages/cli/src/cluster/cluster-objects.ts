import { KINDS, type Kind } from '@edge-gateway/core';
import type { ClusterClient, ClusterObject } from '@edge-gateway/kubernetes';
import { cliError } from '../error-codes.ts';

/** An object with its kind. */
export type KnownObject = ClusterObject & { readonly apiVersion: string; readonly kind: string };

interface Page {
  readonly items?: readonly ClusterObject[];
  readonly metadata?: { readonly continue?: string };
}

/** The kind of the objects of a list, and which of them. */
export interface ListOptions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly labelSelector?: string;
}

const PAGE = 500;

/** Returns the path of the objects of an API version. */
export function collectionPath(apiVersion: string, plural: string, namespace?: string): string {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${base}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`;
}

/** Lists the objects of a path, with kind and API version; empty if the cluster does not know them. */
export async function listObjects(
  client: ClusterClient,
  path: string,
  { apiVersion, kind, labelSelector }: ListOptions,
): Promise<KnownObject[]> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const objects: KnownObject[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector, limit: PAGE, continue: next };
    const page = await client.send<Page>({ path, query }).catch((error: unknown): Page => {
      if (isApiError(error, 404)) return {};
      throw error;
    });
    for (const item of page.items ?? []) objects.push({ ...item, apiVersion, kind });
    next = page.metadata?.continue || undefined;
  } while (next !== undefined);
  return objects;
}

/**
 * Lists the resources of the gateway in a cluster: of all namespaces, or where that is forbidden of the given one; Secrets and ConfigMaps only of
 * namespaces with other resources, and none where they are forbidden.
 */
export async function listResources(client: ClusterClient, namespace: string): Promise<KnownObject[]> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const kinds = [...KINDS.values()];
  const unless403 = (list: Promise<KnownObject[]>, instead: () => Promise<KnownObject[]> | KnownObject[]) =>
    list.catch((error: unknown) => (isApiError(error, 403) ? instead() : Promise.reject(error)));
  const list = (apiVersion: string, kind: Kind, plural: string, within?: string) =>
    listObjects(client, collectionPath(apiVersion, plural, within), { apiVersion, kind });
  const own = kinds
    .filter(({ body }) => !body)
    .flatMap(({ kind, plural, apiVersions }) =>
      apiVersions.map((version) =>
        unless403(list(version, kind, plural), () => list(version, kind, plural, namespace)),
      ),
    );
  const resources = (await Promise.all(own)).flat();
  const namespaces = new Set([namespace, ...resources.flatMap(({ metadata }) => metadata.namespace ?? [])]);
  const referenced = kinds
    .filter(({ body }) => body)
    .flatMap(({ kind, plural }) =>
      [...namespaces].map((within) => unless403(list('v1', kind, plural, within), () => [])),
    );
  return [...resources, ...(await Promise.all(referenced)).flat()];
}

/** Throws `ERR_CLI_NAMESPACE` if the cluster does not have the namespace. */
export async function requireNamespace(client: ClusterClient, namespace: string): Promise<void> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  await client.send({ path: `/api/v1/namespaces/${encodeURIComponent(namespace)}` }).catch((error: unknown) => {
    // A user who must not read namespaces may still read what is in them.
    if (isApiError(error, 403)) return;
    if (!isApiError(error, 404)) throw error;
    throw cliError('ERR_CLI_NAMESPACE', `the cluster has no namespace ${namespace}; name that of the gateway with -n`);
  });
}
