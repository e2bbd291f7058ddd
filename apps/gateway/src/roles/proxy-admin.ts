import { hostname } from 'node:os';
import type { AdminToken, Component, ProxyAdminOptions } from '@edge-gateway/admin';
import { explainInProcess, type ServedConfiguration } from '@edge-gateway/cli/explain';
import type { Context } from '@edge-gateway/core';
import { BUILD, type ServingSettings } from '../settings.ts';
import type { DataPlane } from './data-plane.ts';

/** What the admin ports of a data plane show. */
export interface ProxyAdminParts {
  readonly settings: ServingSettings;
  readonly context: Context;
  readonly dataPlane: DataPlane;
  /** Returns true while a control plane is connected. Default: it is in this process. */
  readonly isConnected?: () => boolean;
  /** Returns true while the process must not be ready, although it may serve. Default: never. */
  readonly isHeld?: () => boolean;
  /** The certificates of flags. Default: none. */
  readonly certificates?: ProxyAdminOptions['certificates'];
  readonly token: AdminToken | undefined;
  /** Ends the process gracefully. */
  readonly quit: () => void;
}

/** Returns the options of the admin ports of a data plane. */
export function proxyAdminOptions(parts: ProxyAdminParts): ProxyAdminOptions {
  const { settings, context, dataPlane, isConnected, isHeld, token, quit, certificates } = parts;
  return {
    context,
    snapshot: () => dataPlane.snapshot,
    lastUpdated: () => dataPlane.lastUpdated,
    listeners: () => dataPlane.listeners.addresses(),
    readiness: () => (dataPlane.readiness === 'LIVE' && isHeld?.() ? 'INITIALIZING' : dataPlane.readiness),
    info: { ...BUILD, startedAt: context.now(), commandLineOptions: { ...settings } },
    ...(isConnected && { isConnected }),
    ...(certificates && { certificates }),
    quit,
    drain: ({ graceful }) => dataPlane.drain(graceful ? settings.drainSeconds * 1000 : 0),
    setHealthy: dataPlane.setHealthy,
    hostStates: dataPlane.hostStates,
    refresh: dataPlane.refresh,
    graphql: explorerOf(dataPlane),
    recordings: dataPlane.recordings,
    token,
    explain: (request) => explainInProcess(servedConfiguration(dataPlane), request),
  };
}

/** Returns the explorer of GraphQL APIs, which the Settings can disable at any time. */
function explorerOf(dataPlane: DataPlane): NonNullable<ProxyAdminOptions['graphql']> {
  const { graphqlExplorer: explorer } = dataPlane;
  const isHidden = (): boolean => dataPlane.snapshot.settings.hidesApiExplorer === true;
  return {
    apis: () => (isHidden() ? [] : explorer.apis()),
    serve: (api) => (isHidden() ? undefined : explorer.serve(api)),
    example: async (api, req) => (isHidden() ? undefined : explorer.example(api, req)),
  };
}

/** Returns the configuration of a data plane for explanations. */
export function servedConfiguration(dataPlane: DataPlane): ServedConfiguration {
  return {
    snapshots: [dataPlane.snapshot],
    hostStates: dataPlane.hostStates,
    unserved: () => dataPlane.unserved,
  };
}

/** Returns the proxy of this process with its listeners and workers. */
export function proxyComponents({ readiness, unserved, snapshot, components }: DataPlane): readonly Component[] {
  const state = readiness === 'LIVE' ? 'ready' : readiness === 'DRAINING' ? 'draining' : 'starting';
  const reasons = unserved.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  const waiting = {
    reason: `some listeners are not served: ${reasons}`,
    waitsFor: unserved.map(({ name }) => name),
  };
  const proxy: Component = {
    name: snapshot.proxy,
    kind: 'proxy',
    state,
    ...(state === 'starting' && reasons && waiting),
  };
  return [proxy, ...components()];
}

/** Identifies this process among the nodes of a control plane. */
export const NODE_ID = `${hostname()}~${process.pid}`;
