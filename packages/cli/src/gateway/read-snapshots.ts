import type { Snapshot } from '@edge-gateway/core';
import { badAnswer, type Connection } from './connection.ts';
import { dig, entries, items } from '../resources/objects.ts';

/** What a control plane serves to one proxy. */
export interface ServedSnapshot {
  /** Key of the proxy, `<namespace>~<name>`. */
  readonly node: string;
  readonly snapshot: Snapshot;
}

/** The snapshots of a running gateway; a response of another shape throws `ERR_CLI_BAD_ANSWER`. */
export async function readSnapshots(connection: Connection): Promise<ServedSnapshot[]> {
  const { data } = await connection.snapshot('xds');
  const served = entries(data);
  if (served.length === 0 && typeof data !== 'object') throw bad(connection);
  return served.map(([node, snapshot]) => {
    if (!isSnapshot(snapshot)) throw bad(connection);
    return { node, snapshot };
  });
}

function isSnapshot(value: unknown): value is Snapshot {
  const hasParts = Array.isArray(dig(value, 'listeners')) && Array.isArray(dig(value, 'upstreams'));
  return hasParts && items(value, 'listeners').every((listener) => Array.isArray(dig(listener, 'virtualHosts')));
}

const bad = (connection: Connection) =>
  badAnswer({ base: connection.server, flag: '--server', path: '/snapshots/xds' });
