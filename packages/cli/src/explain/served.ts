import {
  createContext,
  type Context,
  type HostState,
  type Problem,
  type Secrets,
  type SecretValue,
  type Snapshot,
} from '@edge-gateway/core';
import type { Explanation } from '@edge-gateway/routing';
import type { Command } from 'commander';
import { isListener, isReady, readComponents, type RunningComponent } from '../check/components.ts';
import { didYouMean } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readHostStates } from '../gateway/host-states.ts';
import { readProblems, readSnapshot, readSnapshots } from '../gateway/pages.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadOffline, objectsOf } from '../resources/load.ts';
import { dig, items, text, type StatusObject } from '../resources/objects.ts';
import { reportsOf } from '../resources/status.ts';

/** A listener that the resources require and the gateway does not serve. */
export type MissingListener = Pick<RunningComponent, 'name' | 'reason'> & Partial<Pick<RunningComponent, 'resources'>>;

/** What proxies are served, and what it is made of; resources and problems are empty if the gateway does not list them. */
export interface Served {
  readonly snapshots: readonly Snapshot[];
  readonly objects: readonly StatusObject[];
  readonly problems: readonly Problem[];
  /** Of a directory; `undefined` for a running gateway, whose Secrets are never read. */
  readonly secrets: Secrets | undefined;
  /** The current hosts by upstream; `undefined` if they are unknown. */
  readonly hostStates: Pick<ReadonlyMap<string, readonly HostState[]>, 'get'> | undefined;
  /** Reads the listeners of a proxy that are not served. */
  readUnserved(proxy: string): Promise<readonly MissingListener[]>;
}

/** Reads what is served: by the directory that `--config` names, else by the running gateway. */
export async function readServed(io: Terminal, command: Command): Promise<Served> {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  if (config !== undefined) {
    const state = await loadOffline(io, config);
    return {
      snapshots: [...state.snapshots.values()],
      objects: objectsOf(state),
      problems: state.issues,
      secrets: state.secrets,
      hostStates: undefined,
      readUnserved: async (proxy) => state.unservedListeners.get(proxy) ?? [],
    };
  }
  const connection = gatewayOf(io, command);
  const served = await io.progress('Reading what is served', () => readSnapshots(connection));
  const { objects } = await readSnapshot(connection, 'input').catch(() => ({ objects: [] }));
  return {
    snapshots: served.map(({ snapshot }) => snapshot),
    objects,
    problems: await readProblems(connection).catch(() => []),
    secrets: undefined,
    hostStates: await readHostStates(connection).catch(() => undefined),
    readUnserved: async () =>
      ((await readComponents(connection)) ?? []).filter((one) => isListener(one) && !isReady(one)),
  };
}

const DEFAULT_PROXY = 'gateway-proxy';

/** Returns the snapshot of a proxy; by default that of `gateway-proxy`, or the only one. */
export function chooseSnapshot(served: readonly Snapshot[], proxy: string | undefined): Snapshot {
  const asked = proxy ?? DEFAULT_PROXY;
  const found = served.find((each) => each.proxy === asked);
  if (found) return found;
  if (proxy === undefined && served.length === 1) return served[0]!;
  const known = served.map((each) => each.proxy);
  if (known.length === 0) throw cliError('ERR_CLI_NOT_FOUND', 'no proxy is served; is there a virtual service?');
  const message = `proxy ${asked} is not served${didYouMean(asked, known)}; there are: ${known.join(', ')} (--proxy)`;
  throw cliError('ERR_CLI_NOT_FOUND', message);
}

/**
 * Returns the listeners that are not served and may have been meant for a request: the one of its listener name or port.
 * Without either all of them may be meant if no other listener takes the request.
 */
export async function unservedFor(
  { listeners }: Explanation,
  { url, listener }: { readonly url: string; readonly listener?: string },
  read: () => Promise<readonly MissingListener[]>,
  unused: readonly MissingListener[] = [],
): Promise<MissingListener[]> {
  const port = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(url)?.[1];
  const chosen = listeners.find((one) => one.chosen);
  if (chosen && (listener !== undefined || port === undefined || String(chosen.port) === port)) return [];
  const isMeant = ({ name }: MissingListener) => {
    if (listener !== undefined) return name === listener;
    return port === undefined || name.endsWith(`-${port}`);
  };
  const unserved = await read();
  const others = unused.filter(({ name }) => !unserved.some((one) => one.name === name));
  return [...unserved, ...others].filter((one) => isMeant(one) && !listeners.some(({ name }) => name === one.name));
}

/** Returns the listeners of accepted Gateways to which no virtual service belongs; their ports are not open. */
export function unusedListeners(objects: readonly StatusObject[], { proxy, listeners }: Snapshot): MissingListener[] {
  return objects.flatMap((object): MissingListener[] => {
    const { kind, spec, metadata } = object;
    const proxies = items(spec, 'proxyNames');
    if (kind !== 'Gateway' || dig(spec, 'httpGateway') === undefined) return [];
    if (reportsOf(object).some(({ state }) => state === 'Rejected')) return [];
    if (!proxies.includes(proxy) && (proxies.length > 0 || proxy !== DEFAULT_PROXY)) return [];
    const { name, namespace } = metadata;
    if (listeners.some(({ gateway }) => gateway.name === name && gateway.namespace === namespace)) return [];
    const reason = `no virtual service belongs to gateway ${namespace}/${name}, so that its port is not open`;
    return [{ name: `listener-${text(spec, 'bindAddress') || '::'}-${text(spec, 'bindPort')}`, reason }];
  });
}

const ROOT_CA = 'ca.crt';
const UNKNOWN: SecretValue = { type: 'Opaque', data: {} };
const VERIFYING: SecretValue = {
  type: 'kubernetes.io/tls',
  data: { [ROOT_CA]: Buffer.from('unknown').toString('base64') },
};

/**
 * Returns a context to explain requests with. Its secrets have no values, except that those with a root CA have a
 * `ca.crt`: the listener then requires client certificates.
 */
export function explainContext(objects: readonly StatusObject[]): Context {
  const hasCa = (secret: StatusObject) => text(secret, 'data', ROOT_CA) || text(secret, 'stringData', ROOT_CA);
  const known = objects.filter((object) => object.kind === 'Secret' && hasCa(object));
  const withRootCa = new Set(known.map(({ metadata: { name, namespace } }) => `${namespace}/${name}`));
  return createContext({
    secrets: { get: ({ name, namespace }) => (withRootCa.has(`${namespace}/${name}`) ? VERIFYING : UNKNOWN) },
  });
}
