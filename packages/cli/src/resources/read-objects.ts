import type { Kind } from '@edge-gateway/core';
import type { Command } from 'commander';
import { badAnswer, type Connection, type SnapshotName } from '../gateway/connection.ts';
import { gatewayOf } from '../gateway/connect.ts';
import type { Io } from '../io.ts';
import { toStatusObjects, type StatusObject } from './objects.ts';
import { offlineObjects } from './load.ts';
import { createTerminal } from '../output/terminal.ts';

/** Every resource with its status: of the directory that `--config` names, else of the running gateway. */
export async function readObjects(io: Io, command: Command, kind: Kind): Promise<StatusObject[]> {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  const terminal = createTerminal(io);
  return terminal.progress('Reading resources', async () => {
    if (config !== undefined) return offlineObjects(io, config);
    const connection = gatewayOf(io, command);
    const { objects: input } = await readSnapshot(connection, 'input');
    if (kind !== 'Proxy') return input;
    const { objects: proxies } = await readSnapshot(connection, 'proxies');
    return [...input.filter((object) => object.kind !== 'Proxy'), ...withStatuses(proxies, input)];
  });
}

/** Reads the resources of a snapshot page; throws `ERR_CLI_BAD_ANSWER` if the response is not a list. */
export async function readSnapshot(connection: Connection, name: SnapshotName) {
  const { data, error } = await connection.snapshot(name);
  if (!Array.isArray(data)) throw badAnswer({ base: connection.server, flag: '--server', path: `/snapshots/${name}` });
  return { objects: toStatusObjects(data), error };
}

/** Adds the status in the input to proxies without one. */
export function withStatuses(proxies: readonly StatusObject[], input: readonly StatusObject[]): StatusObject[] {
  return proxies.map((proxy) => {
    if (proxy.status !== undefined) return proxy;
    const { name, namespace } = proxy.metadata;
    const known = input.find(
      ({ kind, metadata }) => kind === 'Proxy' && metadata.name === name && metadata.namespace === namespace,
    );
    return known ? { ...proxy, status: known.status } : proxy;
  });
}
