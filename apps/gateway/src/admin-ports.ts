import {
  createControlAdmin,
  createDeveloperAdmin,
  createProxyAdmin,
  followTranslations,
  type AdminServer,
  type Component,
} from '@edge-gateway/admin';
import { keyOf, type Context, type ControlPlane, type ControlPlaneState } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { DataPlane } from './data-plane.ts';
import type { GatewaySettings } from './settings.ts';
import { VERSION } from './version.ts';

export interface AdminPorts {
  readonly adminPort: number;
  readonly statsPort: number;
  close(): Promise<void>;
}

export interface AdminParts {
  readonly settings: GatewaySettings;
  readonly context: Context;
  readonly controlPlane: ControlPlane;
  readonly dataPlane: DataPlane;
  /** Ends the process gracefully. */
  readonly quit: () => void;
}

/** Opens the proxy admin and the control-plane port, and the developer port for as long as the Settings ask for it. */
export async function openAdminPorts(parts: AdminParts): Promise<AdminPorts> {
  const { settings, controlPlane } = parts;
  const proxy = proxyAdmin(parts);
  const translations = followTranslations(controlPlane, parts.context.metrics);
  const control = createControlAdmin({
    state: () => controlPlane.state,
    loggers: parts.context.log,
    metrics: parts.context.metrics,
    version: VERSION,
    components: () => components(parts),
    translations: translations.records,
  });
  const opened: AdminServer[] = [];
  try {
    const { port: adminPort } = await proxy.listen(settings.adminPort, settings.adminAddress);
    opened.push(proxy);
    const { port: statsPort } = await control.listen(settings.statsPort, settings.adminAddress);
    opened.push(control);
    const developer = followDevMode(parts);
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

function proxyAdmin({ settings, context, dataPlane, quit }: AdminParts): AdminServer {
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
    graphql: dataPlane.graphqlExplorer,
  });
}

function components({ controlPlane, dataPlane }: AdminParts): Component[] {
  const live = dataPlane.readiness === 'LIVE';
  return [
    { name: 'control-plane', kind: 'control-plane', state: controlPlane.state ? 'ready' : 'starting' },
    {
      name: dataPlane.snapshot.proxy,
      kind: 'proxy',
      state: live ? 'ready' : dataPlane.readiness === 'DRAINING' ? 'draining' : 'starting',
    },
    ...dataPlane.components(),
  ];
}

function asksForDevMode(state: ControlPlaneState): boolean {
  const settings = state.resources.get(keyOf('Settings', { namespace: 'gw-system', name: 'default' }));
  return (settings?.spec as SettingsSpec | undefined)?.devMode === true;
}

/** Opens and closes the developer port as `Settings.spec.devMode` changes. */
function followDevMode({ settings, context, controlPlane }: AdminParts): { close(): Promise<void> } {
  const log = context.log.get('admin');
  let server: AdminServer | undefined;
  let done: Promise<void> = Promise.resolve();
  const unsubscribe = controlPlane.subscribe((state) => {
    const wanted = asksForDevMode(state);
    done = done.then(async () => {
      if (wanted === Boolean(server)) return;
      await server?.close();
      server = wanted ? createDeveloperAdmin({ state: () => controlPlane.state }) : undefined;
      const address = await server?.listen(settings.devAdminPort, settings.adminAddress);
      if (address) log.warn({ port: address.port }, 'the developer API is open; it is deprecated');
    });
    done = done.catch((error: unknown) => {
      server = undefined;
      log.error({ err: error }, 'the developer API cannot be opened');
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
