import { hostname } from 'node:os';
import {
  createControlAdmin,
  createDeveloperAdmin,
  createProxyAdmin,
  followTranslations,
  type AdminServer,
  type AdminToken,
  type Component,
} from '@edge-gateway/admin';
import { explainInProcess, type ServedHere } from '@edge-gateway/cli/explain';
import { keyOf, type Context, type ControlPlane, type ControlPlaneState, type ProxyStatus } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { DataPlane } from './data-plane.ts';
import { adminTokenOf } from './admin-token.ts';
import { portError } from './port-error.ts';
import { PORT_FLAGS, VERSION, type GatewaySettings } from '../settings.ts';

interface AdminPorts {
  readonly adminPort: number;
  readonly statsPort: number;
  close(): Promise<void>;
}

interface AdminParts {
  readonly settings: GatewaySettings;
  readonly context: Context;
  readonly controlPlane: ControlPlane;
  readonly dataPlane: DataPlane;
  /** Ends the process gracefully. */
  readonly quit: () => void;
}

/** Opens the proxy admin and the control-plane port, and the developer port while the Settings enable it. */
export async function openAdminPorts(parts: AdminParts): Promise<AdminPorts> {
  const { settings, controlPlane } = parts;
  const connectedAt = parts.context.now();
  const token = adminTokenOf(settings);
  const proxy = proxyAdmin(parts, token);
  const translations = followTranslations(controlPlane);
  const control = createControlAdmin({
    state: () => controlPlane.state,
    loggers: parts.context.log,
    metrics: parts.context.metrics,
    version: VERSION,
    components: () => components(parts),
    proxies: () => [ownProxy(parts, connectedAt)],
    translations: translations.records,
    refresh: parts.dataPlane.refresh,
    hostStates: parts.dataPlane.hostStates,
    token,
    explain: (request) => explainInProcess({ ...servedHere(parts), state: controlPlane.state }, request),
  });
  const opened: AdminServer[] = [];
  try {
    const adminPort = await listen(proxy, 'adminPort', settings);
    opened.push(proxy);
    const statsPort = await listen(control, 'statsPort', settings);
    opened.push(control);
    const developer = followDevMode(parts, token);
    return {
      adminPort,
      statsPort,
      async close() {
        translations.close();
        await Promise.all([developer.close(), ...opened.map((server) => server.close())]);
      },
    };
  } catch (error) {
    await Promise.all(opened.map((server) => server.close()));
    throw error;
  }
}

/** Listens on the port of a flag and resolves with the port. Rejects with `ERR_GATEWAY_PORT`. */
async function listen(
  server: AdminServer,
  name: 'adminPort' | 'statsPort' | 'devAdminPort',
  { adminAddress: address, ...settings }: GatewaySettings,
): Promise<number> {
  const { flag, what } = PORT_FLAGS[name];
  try {
    return (await server.listen(settings[name], address)).port;
  } catch (error) {
    const { cause } = error as Error;
    const remedy = `${flag} N (0 picks a free port)`;
    throw portError({ port: settings[name], address, what, remedy, addressRemedy: '--admin-address', cause });
  }
}

function proxyAdmin({ settings, context, dataPlane, quit }: AdminParts, token: AdminToken | undefined): AdminServer {
  return createProxyAdmin({
    context,
    snapshot: () => dataPlane.snapshot,
    lastUpdated: () => dataPlane.lastUpdated,
    listeners: () => dataPlane.listeners.addresses(),
    readiness: () => dataPlane.readiness,
    info: { version: VERSION, startedAt: context.now(), commandLineOptions: { ...settings } },
    quit,
    drain: ({ graceful }) => dataPlane.drain(graceful ? settings.drainSeconds * 1000 : 0),
    setHealthy: dataPlane.setHealthy,
    hostStates: dataPlane.hostStates,
    refresh: dataPlane.refresh,
    graphql: dataPlane.graphqlExplorer,
    token,
    explain: (request) => explainInProcess(servedHere({ dataPlane }), request),
  });
}

function servedHere({ dataPlane }: Pick<AdminParts, 'dataPlane'>): ServedHere {
  return {
    snapshots: [dataPlane.snapshot],
    hostStates: dataPlane.hostStates,
    unserved: () => dataPlane.unserved,
  };
}

/** The proxy of this process. */
function ownProxy({ context, controlPlane, dataPlane }: AdminParts, connectedAt: number): ProxyStatus {
  const { proxy, version } = dataPlane.snapshot;
  const served = dataPlane.lastUpdated;
  return {
    node: `${hostname()}~${process.pid}`,
    proxy,
    address: 'in process',
    version,
    current: version === (controlPlane.state?.snapshots.get(proxy)?.version ?? ''),
    connectedSince: new Date(connectedAt).toISOString(),
    ...(version !== '' && { lastAck: served.toISOString() }),
    age: Math.max(0, Math.round((context.now() - (version === '' ? connectedAt : served.getTime())) / 1000)),
  };
}

function components({ controlPlane, dataPlane }: AdminParts): Component[] {
  const { readiness, unserved, snapshot } = dataPlane;
  const state = readiness === 'LIVE' ? 'ready' : readiness === 'DRAINING' ? 'draining' : 'starting';
  const reasons = unserved.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  const waiting = {
    reason: `not every listener is served: ${reasons}`,
    waitsFor: unserved.map(({ name }) => name),
  };
  return [
    { name: 'control-plane', kind: 'control-plane', state: controlPlane.state ? 'ready' : 'starting' },
    { name: snapshot.proxy, kind: 'proxy', state, ...(state === 'starting' && reasons && waiting) },
    ...dataPlane.components(),
  ];
}

function isDevMode(state: ControlPlaneState): boolean {
  const settings = state.resources.get(keyOf('Settings', { namespace: 'gw-system', name: 'default' }));
  return (settings?.spec as SettingsSpec | undefined)?.devMode === true;
}

/** Opens and closes the developer port as `Settings.spec.devMode` changes. */
function followDevMode(
  { settings, context, controlPlane, dataPlane }: AdminParts,
  token: AdminToken | undefined,
): { close(): Promise<void> } {
  const log = context.log.get('admin');
  let server: AdminServer | undefined;
  let done: Promise<void> = Promise.resolve();
  const unsubscribe = controlPlane.subscribe((state) => {
    const wanted = isDevMode(state);
    done = done.then(async () => {
      if (wanted === Boolean(server)) return;
      await server?.close();
      dataPlane.ownPortsChanged?.();
      server = wanted ? createDeveloperAdmin({ state: () => controlPlane.state, token }) : undefined;
      if (!server) return;
      const port = await listen(server, 'devAdminPort', settings);
      dataPlane.ownPortsChanged?.();
      log.warn({ port }, 'deprecated developer API listening');
    });
    done = done.catch((error: unknown) => {
      server = undefined;
      log.error({ reason: (error as Error).message }, 'failed to open developer API');
    });
  });
  return {
    async close() {
      unsubscribe();
      await done;
      await server?.close();
    },
  };
}
