import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterClient, Definition } from '@edge-gateway/kubernetes';
import { parse } from 'yaml';
import { cliError, fileError } from '../error-codes.ts';
import { dig, items, text } from '../resources/objects.ts';

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLL_MS = 100;
const SERVED_MS = 60_000;

/** Returns the CRDs of this version, or of the folder `crds` of a chart. */
export async function wantedDefinitions(chart: string | undefined): Promise<readonly Definition[]> {
  if (chart === undefined) return (await import('@edge-gateway/kubernetes')).customResourceDefinitions();
  const folder = join(chart, 'crds');
  try {
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    return files.sort().map((file) => parse(readFileSync(join(folder, file), 'utf8')) as Definition);
  } catch (error) {
    throw fileError(folder, error);
  }
}

/** Why a CRD of a cluster is not the wanted one. */
export interface DefinitionDifference {
  readonly definition: Definition;
  readonly reason: 'missing' | 'differs';
}

/** Returns the CRDs that a cluster does not have as wanted. */
export async function differingDefinitions(
  client: ClusterClient,
  wanted: readonly Definition[],
): Promise<DefinitionDifference[]> {
  const found = await Promise.all(wanted.map((definition) => read(client, definition)));
  return wanted.flatMap((definition, i): DefinitionDifference[] => {
    if (found[i] === undefined) return [{ definition, reason: 'missing' }];
    return contains(dig(found[i], 'spec'), definition.spec) ? [] : [{ definition, reason: 'differs' }];
  });
}

async function read(client: ClusterClient, { metadata }: Definition): Promise<unknown> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  return client.send({ path: `${PATH}/${metadata.name}` }).catch((error: unknown) => {
    if (isApiError(error, 404)) return undefined;
    throw error;
  });
}

/** Returns true if a value has everything that is wanted; the API server adds defaults. */
function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) && actual.length === wanted.length && wanted.every((one, i) => contains(actual[i], one))
    );
  }
  const there = actual as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([key, one]) => contains(there[key], one));
}

/** Applies CRDs, also over those of other tools, and waits until the API server serves their resources. */
export async function applyDefinitions(client: ClusterClient, definitions: readonly Definition[]): Promise<void> {
  for (const definition of definitions) {
    await client.send({
      method: 'PATCH',
      path: `${PATH}/${definition.metadata.name}`,
      query: { fieldManager: 'gatewayctl', force: true },
      contentType: 'application/apply-patch+yaml',
      body: definition,
    });
  }
  const deadline = performance.now() + SERVED_MS;
  for (const definition of definitions) await untilServed(client, definition, deadline);
}

async function untilServed(client: ClusterClient, { metadata, spec }: Definition, deadline: number): Promise<void> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const path = `/apis/${text(spec, 'group')}/${text(items(spec, 'versions')[0], 'name')}/${text(spec, 'names', 'plural')}`;
  for (;;) {
    const isServed = await client.send({ path, query: { limit: 1 } }).then(
      () => true,
      // A user who may install CRDs may be forbidden to list their resources.
      (error: unknown) => isApiError(error, 403) || (isApiError(error, 404) ? false : Promise.reject(error)),
    );
    if (isServed) return;
    if (performance.now() > deadline)
      throw cliError('ERR_CLI_UNREACHABLE', `the cluster does not serve ${metadata.name} after ${SERVED_MS / 1000} s`);
    await wait(POLL_MS);
  }
}

/** Deletes CRDs, and with them all their resources. */
export async function deleteDefinitions(client: ClusterClient, definitions: readonly Definition[]): Promise<void> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  for (const { metadata } of definitions) {
    await client.send({ method: 'DELETE', path: `${PATH}/${metadata.name}` }).catch((error: unknown) => {
      if (!isApiError(error, 404)) throw error;
    });
  }
}
