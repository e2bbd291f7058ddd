import {
  createControlAdmin,
  followTranslations,
  type Component,
  type StatsPage,
  type UsedCertificates,
} from '@edge-gateway/admin';
import {
  createContext,
  createControlPlane,
  createMetrics,
  directorySource,
  type Context,
  type ControlPlane,
  type Kind,
} from '@edge-gateway/core';
import type { DiagnosedSettings, PortFlag, RoleProcess, RunningRole, SourceSettings } from '../command-line/role.ts';
import { BUILD } from '../settings.ts';
import { adminTokenOf } from './admin-token.ts';
import { openCluster } from './cluster.ts';
import { warnOfCertificates } from './flag-certificates.ts';
import { portError } from './port-error.ts';

/** The parts of a server: the control plane with its resources, and the context. */
export interface ServiceParts {
  readonly controlPlane: ControlPlane;
  readonly context: Context;
}

/** A server without a data plane that listens. */
export interface Service {
  /** Its ports, for the log line `ready` and for the parent process. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Its state for `/components` of the stats port. */
  components(): readonly Component[];
  /** Accepts no new work; resolves when work in progress is done, or after the limit. */
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/** The parts of a role that runs a server without a data plane. */
export interface ServiceKind {
  readonly statsPort: PortFlag;
  /** The kinds of resources that it reads. */
  readonly kinds: ReadonlySet<Kind>;
  /** Its pages on the stats port. Default: none. */
  readonly pages?: readonly StatsPage[];
  /** The certificates of its flags. */
  readonly certificates: readonly UsedCertificates[];
  open(parts: ServiceParts): Promise<Service>;
}

/**
 * Runs a server without a data plane: reads the resources, opens the stats port, and passes the complete resources to `open`. Rejects with
 * `ERR_GATEWAY_PORT` when the stats port is in use, and with the error of `open`.
 */
export async function startService(
  settings: SourceSettings,
  { log }: RoleProcess,
  { statsPort: flag, kinds, pages = [], certificates, open }: ServiceKind,
): Promise<RunningRole> {
  warnOfCertificates(certificates, log.get('secret'));
  const token = adminTokenOf(settings);
  const metrics = createMetrics();
  const { config } = settings;
  const cluster = config === undefined ? await openCluster(settings, log, { kinds }) : undefined;
  const controlPlane = createControlPlane({
    source: cluster?.source ?? directorySource(config!, { kinds, log: log.get('config') }),
    directories: { base: config ?? process.cwd(), isRead: config !== undefined },
    log,
    metrics,
    // Those of listeners, which a service does not have.
    certificateFiles: false,
  });
  const context = createContext({ log, metrics, secrets: controlPlane.secrets });
  const translations = followTranslations(controlPlane);
  let service: Service | undefined;
  const admin = createControlAdmin({
    state: () => controlPlane.state,
    loggers: log,
    metrics,
    ...BUILD,
    components: () => [
      { name: 'control-plane', kind: 'control-plane', state: controlPlane.state ? 'ready' : 'starting' },
      ...(service?.components() ?? [{ name: 'ports', kind: 'listener' as const, state: 'starting' as const }]),
    ],
    translations: translations.records,
    pages,
    certificates: () => certificates,
    token,
  });
  const close = async (): Promise<void> => {
    translations.close();
    await controlPlane.close();
    await cluster?.close();
    await service?.close();
    await admin.close();
  };
  try {
    const statsPort = await listenOn(flag, settings, async (port, address) => (await admin.listen(port, address)).port);
    await controlPlane.start();
    service = await open({ controlPlane, context });
    const problems = controlPlane.state?.issues.length ?? 0;
    return {
      facts: { ...service.facts, problems, statsPort },
      isReady: true,
      async stop() {
        await service?.drain(settings.drainSeconds * 1000);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Listens on the stats port and resolves with the port. Rejects with `ERR_GATEWAY_PORT`. */
async function listenOn(
  { flag, what }: PortFlag,
  { statsPort: port, adminAddress: address }: DiagnosedSettings,
  listen: (port: number, address: string) => Promise<number>,
): Promise<number> {
  try {
    return await listen(port, address);
  } catch (error) {
    const { cause } = error as Error;
    const remedy = `${flag} N (0 picks a free port)`;
    throw portError({ port, address, what, remedy, addressRemedy: '--admin-address', cause });
  }
}
