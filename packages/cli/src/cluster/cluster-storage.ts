import {
  gatewayNamespace,
  keyOf,
  KINDS,
  LAST_APPLIED_ANNOTATION,
  parseDocuments,
  type Kind,
  type ResourceKey,
} from '@edge-gateway/core';
import type { ClusterClient, ClusterRequest } from '@edge-gateway/kubernetes';
import { parse } from 'yaml';
import type { ChangedUnit, ResourceStorage } from '../edit/resource-storage.ts';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { yamlText } from '../output/formats.ts';
import { loadDocuments } from '../resources/load.ts';
import { listResources, objectPath, type KnownObject } from './cluster-objects.ts';
import { openCluster, type ClusterFlags } from './open-cluster.ts';

/** A request for a change of a unit. */
interface Change extends ClusterRequest {
  readonly unit: string;
}

/**
 * Stores resources in a cluster; a unit is one object, without what the API server adds. The API server and its webhooks validate all changes
 * before the first one is written.
 */
export function clusterStorage(io: Io, flags: ClusterFlags & { readonly namespace?: string }): ResourceStorage {
  const objects = new Map<string, KnownObject>();
  const texts = new Map<string, string>();
  let client: ClusterClient | undefined;
  return {
    // The control plane also reads Services, and namespaces that are not read here.
    tolerance: { missingReferencesOfChanged: true },
    async read() {
      client = await openCluster(io, flags);
      for (const object of await listResources(client, flags.namespace || gatewayNamespace())) {
        const { name, namespace = gatewayNamespace() } = object.metadata;
        const unit: ResourceKey = keyOf(object.kind as Kind, { name, namespace });
        objects.set(unit, object);
        texts.set(unit, yamlText(editable(object)));
      }
      return new Map(Array.from(texts, ([unit, text]) => [unit, parseDocuments(text, shown(unit))]));
    },
    translate: loadDocuments,
    textOf: (unit) => texts.get(unit),
    sourceKeyOf: (key) => key,
    shown,
    placeOf: () => 'created',
    async write(changed) {
      const changes = await Promise.all(changed.map((one) => changeOf(one, objects.get(one.unit))));
      for (const change of changes) await send(client!, change, { isDryRun: true });
      for (const change of changes) await send(client!, change, { isDryRun: false });
    },
    exclusively: (work) => work(),
  };
}

/** `Kind namespace/name`. */
const shown = (unit: string): string => unit.replace('/', ' ');

/** Returns the part of an object that its owner writes. */
function editable({ apiVersion, kind, metadata, ...rest }: KnownObject): object {
  const { name, namespace, labels, annotations = {} } = metadata;
  const { [LAST_APPLIED_ANNOTATION]: _applied, ...own } = annotations;
  const { status: _status, ...content } = rest;
  const shownAnnotations = Object.keys(own).length > 0 && { annotations: own };
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, ...(labels && { labels }), ...shownAnnotations },
    ...content,
  };
}

/** Returns the request for a change; it fails if the object has changed since it was read. */
async function changeOf({ unit, text }: ChangedUnit, before: KnownObject | undefined): Promise<Change> {
  const object = text === undefined ? before! : (parse(text) as KnownObject);
  const { name, namespace = gatewayNamespace() } = object.metadata;
  const { plural } = KINDS.get(object.kind as Kind)!;
  const apiVersion = before?.apiVersion ?? object.apiVersion;
  const path = await objectPath(apiVersion, plural, namespace, name);
  if (before === undefined) {
    const collection = await objectPath(apiVersion, plural, namespace);
    const metadata = { ...object.metadata, namespace };
    return { unit, method: 'POST', path: collection, body: { ...object, metadata } };
  }
  if (text === undefined) {
    const { uid, resourceVersion } = before.metadata;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } };
    return { unit, method: 'DELETE', path, body };
  }
  return { unit, method: 'PUT', path, body: { ...object, metadata: metadataAfter(object, before) } };
}

/** Returns the metadata of a changed object, with what {@link editable} leaves out. */
function metadataAfter({ metadata }: KnownObject, before: KnownObject): object {
  const { managedFields: _managed, labels: _labels, annotations, ...kept } = before.metadata;
  const applied = annotations?.[LAST_APPLIED_ANNOTATION];
  return {
    ...kept,
    ...(metadata.labels && { labels: metadata.labels }),
    annotations: { ...(applied !== undefined && { [LAST_APPLIED_ANNOTATION]: applied }), ...metadata.annotations },
  };
}

async function send(
  client: ClusterClient,
  change: Change,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<void> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const { unit, ...request } = change;
  const dryRun = isDryRun ? ['All'] : undefined;
  // A deletion with a body ignores the query.
  const options =
    request.method === 'DELETE'
      ? { body: { ...(request.body as object), dryRun } }
      : { query: { fieldManager: 'gatewayctl', fieldValidation: 'Strict', dryRun: dryRun?.[0] } };
  try {
    await client.send({ ...request, ...options });
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (error.reason === 'AlreadyExists') throw cliError('ERR_CLI_EXISTS', `${shown(unit)} already exists`, error);
    if (error.apiStatus === 409)
      throw cliError('ERR_CLI_LOCKED', `${shown(unit)} was changed by another program; try again`, error);
    const reason = error.message.replace(`${request.method} ${request.path}: `, '');
    const text = `the change was not written, because the cluster rejects it: ${shown(unit)}: ${reason}`;
    throw cliError('ERR_CLI_REJECTED', text, error);
  }
}
