import {
  createControlAdmin,
  followTranslations,
  type AdminServer,
  type AdminToken,
  type Component,
  type ControlAdminOptions,
} from '@edge-gateway/admin';
import { explainInProcess, type ServedConfiguration } from '@edge-gateway/cli/explain';
import type { Context, ControlPlane, ProxyStatus } from '@edge-gateway/core';
import type { DiagnosedSettings } from '../command-line/role.ts';
import { BUILD, type GatewaySettings, type ListeningSettings } from '../settings.ts';
import { adminTokenOf } from './admin-token.ts';
import { listenAdmin } from './admin-port.ts';
import type { DataPlane } from './data-plane.ts';
import { followDevMode } from './developer-port.ts';
import { locateRejection } from './rejected-field.ts';
import { NODE_ID, proxyComponents, servedConfiguration } from './proxy-admin.ts';
import { openProxyPorts } from './proxy-ports.ts';

interface AdminPorts {
  /** The open ports by the names of their settings. */
  readonly ports: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

interface AdminParts {
  readonly settings: GatewaySettings;
  readonly context: Context;
  readonly controlPlane: ControlPlane;
  readonly dataPlane: DataPlane;
  /** The rejections of the proxy in this process. */
  readonly rejections: () => readonly NonNullable<ProxyStatus['nack']>[];
  /** Ends the process gracefully. */
  readonly quit: () => void;
}

/** Opens the ports of the proxy and the control-plane port, and the developer port while the Settings enable it. */
export async function openAdminPorts(parts: AdminParts): Promise<AdminPorts> {
  const { settings, context, controlPlane, dataPlane } = parts;
  const connectedAt = context.now();
  const token = adminTokenOf(settings);
  const proxy = await openProxyPorts({ ...parts, token });
  const control = await openControlPorts({
    settings,
    context,
    controlPlane,
    token,
    served: () => servedConfiguration(dataPlane),
    hostStates: dataPlane.hostStates,
    components: () => proxyComponents(dataPlane),
    proxies: () => [ownProxy(parts, connectedAt)],
    refresh: dataPlane.refresh,
    history: proxy.history,
    onPortsChanged: dataPlane.ownPortsChanged,
  }).catch(async (error: unknown) => {
    await proxy.close();
    throw error;
  });
  return {
    ports: { ...proxy.ports, statsPort: control.statsPort },
    close: async () => void (await Promise.all([control.close(), proxy.close()])),
  };
}

interface ControlParts extends Pick<ControlAdminOptions, 'refresh' | 'history' | 'hostStates' | 'certificates'> {
  readonly settings: DiagnosedSettings & ListeningSettings;
  readonly context: Context;
  readonly controlPlane: ControlPlane;
  /** Besides the control plane. */
  readonly components: () => readonly Component[];
  readonly proxies: () => readonly ProxyStatus[];
  readonly token: AdminToken | undefined;
  /** The configuration to explain. */
  readonly served: () => ServedConfiguration;
  readonly onPortsChanged?: (() => void) | undefined;
}

/** Opens the control-plane port, and the developer port while the Settings enable it. Rejects with `ERR_GATEWAY_PORT`. */
export async function openControlPorts(parts: ControlParts): Promise<{ statsPort: number; close(): Promise<void> }> {
  const { settings, context, controlPlane, components, proxies, refresh, history, hostStates, token, served } = parts;
  const { certificates } = parts;
  const translations = followTranslations(controlPlane);
  const control: AdminServer = createControlAdmin({
    state: () => controlPlane.state,
    secrets: controlPlane.secrets,
    loggers: context.log,
    metrics: context.metrics,
    ...BUILD,
    components: () => [
      { name: 'control-plane', kind: 'control-plane', state: controlPlane.state ? 'ready' : 'starting' },
      ...components(),
    ],
    proxies,
    translations: translations.records,
    refresh,
    history,
    ...(hostStates && { hostStates }),
    ...(certificates && { certificates }),
    token,
    explain: (request) => explainInProcess({ ...served(), state: controlPlane.state }, request),
  });
  const statsPort = await listenAdmin(control, 'statsPort', settings);
  const developer = followDevMode({ settings, log: context.log, controlPlane, token, onChange: parts.onPortsChanged });
  return {
    statsPort,
    async close() {
      translations.close();
      await Promise.all([developer.close(), control.close()]);
    },
  };
}

/** The proxy of this process. */
function ownProxy({ context, controlPlane, dataPlane, rejections }: AdminParts, connectedAt: number): ProxyStatus {
  const { proxy, version } = dataPlane.snapshot;
  const served = dataPlane.lastUpdated;
  const [nack] = rejections();
  return {
    node: NODE_ID,
    proxy,
    address: 'in process',
    version,
    current: !nack && version === (controlPlane.state?.snapshots.get(proxy)?.version ?? ''),
    connectedSince: new Date(connectedAt).toISOString(),
    ...(version !== '' && { lastAck: served.toISOString() }),
    ...(nack && { nack: locateRejection(proxy, nack, controlPlane) }),
    age: Math.max(0, Math.round((context.now() - (version === '' ? connectedAt : served.getTime())) / 1000)),
  };
}
