import { createDeveloperAdmin, type AdminServer, type AdminToken } from '@edge-gateway/admin';
import { settingsKey, type ControlPlane, type ControlPlaneState, type Loggers } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { DiagnosedSettings } from '../command-line/role.ts';
import type { ListeningSettings } from '../settings.ts';
import { listenAdmin } from './admin-port.ts';

interface DeveloperPortParts {
  readonly settings: Pick<ListeningSettings & DiagnosedSettings, 'devAdminPort' | 'adminAddress'>;
  readonly log: Loggers;
  readonly controlPlane: ControlPlane;
  readonly token: AdminToken | undefined;
  /** Called after the port was opened or closed. */
  readonly onChange?: (() => void) | undefined;
}

/** Opens and closes the developer port as `Settings.spec.devMode` changes. */
export function followDevMode(parts: DeveloperPortParts): { close(): Promise<void> } {
  const { settings, log: loggers, controlPlane, token, onChange } = parts;
  const log = loggers.get('admin');
  let server: AdminServer | undefined;
  let done: Promise<void> = Promise.resolve();
  const unsubscribe = controlPlane.subscribe((state) => {
    const wanted = isDevMode(state);
    done = done.then(async () => {
      if (wanted === Boolean(server)) return;
      await server?.close();
      onChange?.();
      server = wanted ? createDeveloperAdmin({ state: () => controlPlane.state, token }) : undefined;
      if (!server) return;
      const port = await listenAdmin(server, 'devAdminPort', settings);
      onChange?.();
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

function isDevMode(state: ControlPlaneState): boolean {
  const settings = state.resources.get(settingsKey());
  return (settings?.spec as SettingsSpec | undefined)?.devMode === true;
}
