import type { Problem, Snapshot } from '@edge-gateway/core';
import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { isListener, isReady, readComponents } from '../check/components.ts';
import type { MissingListener } from '../explain/unserved-listeners.ts';
import type { Connection } from '../gateway/connection.ts';
import { gatewayOf } from '../gateway/connect.ts';
import { readProblems } from '../gateway/read-problems.ts';
import type { Io } from '../io.ts';
import type { StatusObject } from './objects.ts';
import { loadOffline, objectsOf } from './load.ts';
import { readSnapshot } from './read-objects.ts';
import { readSnapshots } from '../gateway/read-snapshots.ts';
import { didYouMean } from '../command-line/suggest.ts';
import { createTerminal } from '../output/terminal.ts';

/** What proxies are served: by the directory that `--config` names, else by the running gateway. */
export async function readServed(io: Io, command: Command): Promise<Snapshot[]> {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  return createTerminal(io).progress('Reading what is served', async () => {
    if (config !== undefined) return [...(await loadOffline(io, config)).snapshots.values()];
    return (await readSnapshots(gatewayOf(io, command))).map(({ snapshot }) => snapshot);
  });
}

/** What proxies are served, and the resources that it is made of with their status. */
export interface ServedResources {
  readonly served: readonly Snapshot[];
  readonly objects: readonly StatusObject[];
  /** Reads the listeners of a proxy that are not served; empty if the gateway does not report them. */
  readUnserved(proxy: string): Promise<readonly MissingListener[]>;
  /** Reads the problems of the configuration; empty if the gateway does not report them. */
  readProblems(): Promise<readonly Problem[]>;
}

/** Reads what proxies are served, and the resources that it is made of with their status. */
export async function readServedResources(io: Io, command: Command): Promise<ServedResources> {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  if (config === undefined) {
    const served = await readServed(io, command);
    // An explanation needs only the snapshots.
    const connection = gatewayOf(io, command);
    const { objects } = await readSnapshot(connection, 'input').catch(() => ({ objects: [] }));
    return {
      served,
      objects,
      readUnserved: () => readUnservedOf(connection),
      readProblems: () => readProblems(connection).catch(() => []),
    };
  }
  const state = await loadOffline(io, config);
  return {
    served: [...state.snapshots.values()],
    objects: objectsOf(state),
    readUnserved: async (proxy) => state.unservedListeners.get(proxy) ?? [],
    readProblems: async () => state.issues,
  };
}

async function readUnservedOf(connection: Connection): Promise<MissingListener[]> {
  const components = readComponents(await connection.control('/components').catch(() => []));
  return components.filter((one) => isListener(one) && !isReady(one));
}

const DEFAULT_PROXY = 'gateway-proxy';

/** Returns the snapshot of a proxy; by default that of `gateway-proxy`, or the only one. */
export function chooseSnapshot(served: readonly Snapshot[], proxy: string | undefined): Snapshot {
  const found = served.find((each) => each.proxy === (proxy ?? DEFAULT_PROXY));
  if (found) return found;
  if (proxy === undefined && served.length === 1) return served[0]!;
  const known = served.map((each) => each.proxy);
  if (known.length === 0) throw cliError('ERR_CLI_NOT_FOUND', 'no proxy is served; is there a virtual service?');
  const asked = proxy ?? DEFAULT_PROXY;
  const text = `proxy ${asked} is not served${didYouMean(asked, known)}; there are: ${known.join(', ')} (--proxy)`;
  throw cliError('ERR_CLI_NOT_FOUND', text);
}
