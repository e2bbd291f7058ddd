import { accessSync, constants, opendirSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import {
  gatewayNamespace,
  directorySource,
  fileSource,
  keyOf,
  kubernetesStatus,
  loadSource,
  severalSources,
  type ControlPlaneState,
  type DefaultGateways,
  type Kind,
  type Origin,
  type Resource,
  type ResourceCheck,
  type ResourceFiles,
  type ResourceKey,
  type Snapshot,
  type Source,
  type SourceChange,
} from '@edge-gateway/core';
import { accessChecks } from '@edge-gateway/rbac';
import type { Command } from 'commander';
import { fileError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readSnapshot } from '../gateway/pages.ts';
import { listResources, requireNamespace } from '../cluster/cluster-objects.ts';
import { openCluster, wantsCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import type { Io } from '../io.ts';
import type { Terminal } from '../output/terminal.ts';
import { dig, hasBody, idOf, text, toStatusObjects, type StatusObject } from './objects.ts';

/** Reads, validates and translates a directory as a gateway would. A directory that cannot be read is `ERR_CLI_FILE`. */
export async function loadOffline(
  io: Io,
  directory: string,
  defaultGateways: DefaultGateways = {},
): Promise<ControlPlaneState> {
  return load(sourceAt(io, directory, false), defaultGateways, resolve(io.cwd, directory));
}

/** Loads any number of directories and files as if they were one directory. */
export async function loadPaths(io: Io, paths: readonly string[]): Promise<ControlPlaneState> {
  const [only] = paths;
  if (paths.length === 1 && isDirectory(io, only!)) return loadOffline(io, only!);
  return load(severalSources(paths.map((path) => sourceAt(io, path, !isDirectory(io, path)))));
}

/** Returns the documents of every file of a directory. A directory that cannot be read is `ERR_CLI_FILE`. */
export async function readWritten(io: Io, directory: string): Promise<SourceChange> {
  return contentOf(sourceAt(io, directory, false));
}

/** Validates and translates documents as a gateway would if they were the files of the directory. */
export async function loadWritten(io: Io, directory: string, written: SourceChange): Promise<ControlPlaneState> {
  return load(fixedSource(directory, written), {}, resolve(io.cwd, directory));
}

/** Validates and translates documents that are not in a directory, such as those of a cluster. */
export async function loadDocuments(written: SourceChange): Promise<ControlPlaneState> {
  return load(fixedSource('documents', written));
}

const fixedSource = (name: string, written: SourceChange): Source => ({
  name,
  start: async (onChange) => onChange(written),
  close: async () => {},
});

/** `directory` is the one below which descriptor files are read. Default: they are not read. */
async function load(source: Source, defaultGateways: DefaultGateways = {}, directory?: string) {
  const written = await contentOf(source);
  const values = [...written.values()].flat().map(({ value }) => value);
  const checks = await checksFor(values);
  const files = directory === undefined ? [] : await filesFor(values, directory);
  const directories = directory !== undefined && { directories: { base: directory, watch: false } };
  return loadSource(fixedSource(source.name, written), { defaultGateways, checks, files, ...directories });
}

/** Returns the descriptor files of a gateway for these documents. */
async function filesFor(values: readonly unknown[], directory: string): Promise<readonly ResourceFiles[]> {
  const files: ResourceFiles[] = [];
  if (hasGraphQL(values)) files.push((await import('@edge-gateway/graphql')).descriptorFiles(directory));
  if (hasTranscoder(values)) files.push((await import('@edge-gateway/routing/grpc-json')).transcoderFiles(directory));
  return files;
}

const hasGraphQL = (values: readonly unknown[]): boolean =>
  values.some((value) => text(value, 'kind') === 'GraphQLApi') || hasDirectories(values);

const hasTranscoder = (values: readonly unknown[]): boolean =>
  values.some((value) => JSON.stringify(value)?.includes('"grpcJsonTranscoder"')) || hasDirectories(values);

/** Returns true if Settings name a directory, whose resources are not known yet. */
const hasDirectories = (values: readonly unknown[]): boolean =>
  values.some((value) => text(value, 'kind') === 'Settings' && /[dD]irectory/.test(JSON.stringify(value)));

function isDirectory(io: Io, path: string): boolean {
  return statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function sourceAt(io: Io, path: string, isFile: boolean): Source {
  const at = resolve(io.cwd, path);
  try {
    if (!isFile) opendirSync(at).closeSync();
    accessSync(at, isFile ? constants.R_OK : constants.R_OK | constants.X_OK);
  } catch (error) {
    throw fileError(path, error);
  }
  return isFile ? fileSource(at) : directorySource(at, { watch: false });
}

/** Returns the checks of a gateway for these documents. Those with large libraries are imported only if they are needed. */
export async function checksFor(values: readonly unknown[]): Promise<readonly ResourceCheck[]> {
  const checks = [...accessChecks];
  if (hasTranscoder(values)) checks.unshift(...(await import('@edge-gateway/routing/grpc-json')).transcoderChecks);
  if (hasGraphQL(values)) checks.unshift((await import('@edge-gateway/graphql')).graphqlApiCheck);
  return checks;
}

/** Returns the ports that a running gateway opens without Gateway resources, so that a directory is read in the same way. */
export function defaultGatewaysOf(served: readonly Snapshot[]): DefaultGateways {
  const listeners = served.flatMap(({ listeners: all }) => all);
  const portOf = (name: string) => listeners.find(({ gateway }) => gateway.name === name)?.bindPort;
  const known = {
    httpPort: portOf('gateway-proxy'),
    httpsPort: portOf('gateway-proxy-ssl'),
    proxyName: served.length === 1 ? served[0]!.proxy : undefined,
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

/** Reads every resource with its status: of the directory that `--config` names, of the cluster of the flags, else of the running gateway. */
export async function readObjects(io: Terminal, command: Command, kind: Kind): Promise<StatusObject[]> {
  const flags = command.optsWithGlobals<ClusterFlags & { config?: string; namespace?: string }>();
  const { config } = flags;
  return io.progress('Reading resources', async () => {
    if (config !== undefined) return objectsOf(await loadOffline(io, config));
    if (wantsCluster(flags)) return readClusterObjects(io, flags);
    const connection = gatewayOf(io, command);
    const { objects } = await readSnapshot(connection, 'input');
    if (kind !== 'Proxy') return objects;
    const proxies = new Map(objects.map((object) => [idOf(object), object]));
    const { objects: served } = await readSnapshot(connection, 'proxies');
    const withStatus = served.map((proxy) => ({ ...proxy, status: proxy.status ?? proxies.get(idOf(proxy))?.status }));
    return [...objects.filter((object) => object.kind !== 'Proxy'), ...withStatus];
  });
}

/** Reads the resources of a cluster, without what only the API server needs. */
export async function readClusterObjects(
  io: Io,
  flags: ClusterFlags & { readonly namespace?: string },
): Promise<StatusObject[]> {
  const client = await openCluster(io, flags);
  const namespace = flags.namespace || gatewayNamespace();
  const objects = await listResources(client, namespace);
  if (objects.every(({ metadata }) => metadata.namespace !== namespace)) await requireNamespace(client, namespace);
  return toStatusObjects(
    objects.map(({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, managedFields: undefined } })),
  );
}

/**
 * Returns the resources of a directory with the status that a gateway would set; rejected ones as written. Default of `isWanted`:
 * all of them.
 */
export function objectsOf(
  { resources, rejected, statuses, proxies }: ControlPlaneState,
  isWanted: (key: ResourceKey) => boolean = () => true,
): StatusObject[] {
  const made = new Map(proxies.map((proxy) => [keyOf('Proxy', proxy.metadata), proxy]));
  const known = new Map<ResourceKey, Resource>([...[...resources].filter(([key]) => !made.has(key)), ...made]);
  const keys = [...new Set([...known.keys(), ...statuses.keys()])].filter(isWanted).sort();
  return toStatusObjects(
    keys.map((key) => {
      const status = statuses.get(key);
      const shape = shapeOf(key, known.get(key), rejected.get(key));
      return { ...shape, ...(status && { status: kubernetesStatus(key.split('/', 1)[0] as Kind, status) }) };
    }),
  );
}

/** Returns the complete content of a source. */
export async function contentOf(source: Source): Promise<SourceChange> {
  let content: SourceChange = new Map();
  await source.start((change) => void (content = change));
  await source.close();
  return content;
}

function shapeOf(key: ResourceKey, resource: Resource | undefined, written: object | undefined): object {
  const [kind, namespace, name] = key.split('/');
  if (!resource)
    return { apiVersion: '', ...written, kind, metadata: { ...(dig(written, 'metadata') as object), name, namespace } };
  const { apiVersion, metadata, spec } = resource;
  return { apiVersion, kind, metadata, ...(hasBody(resource.kind) ? (spec as object) : { spec }) };
}

/** Returns a place relative to the directory of the caller, if it is below that. */
export function shownOrigin(io: Io, origin: Origin): Origin {
  const file = relative(io.cwd, origin.file);
  return file === '' || file.startsWith('..') ? origin : { ...origin, file };
}
