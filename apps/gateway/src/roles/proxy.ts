import { isDeepStrictEqual } from 'node:util';
import { createTrafficReports } from '@edge-gateway/admin';
import {
  createMetrics,
  createWatchdog,
  gatewayNamespace,
  runSteps,
  type Loggers,
  startTimer,
  type Steps,
} from '@edge-gateway/core';
import {
  createDiscoveryClient,
  createSnapshotWriter,
  readSnapshotFile,
  readSnapshotKey,
  type DiscoveryClient,
  type SavedState,
} from '@edge-gateway/xds';
import {
  applyReceived,
  createStateDecoder,
  typeName,
  type Applied,
  type DecodedState,
  type StateDecoder,
} from '@edge-gateway/xds/resources';
import type { ProxySettings } from '../command-line/proxy-role.ts';
import type { RoleProcess, RunningRole } from '../command-line/role.ts';
import { adminTokenOf } from './admin-token.ts';
import { createBinding } from './bind-address.ts';
import { closedListeners, LISTENER_CHECK_MS, type ClosedListener } from './closed-listeners.ts';
import { NODE_ID } from './proxy-admin.ts';
import { openProxyPorts } from './proxy-ports.ts';
import { clientCertificates, readClientTls } from './server-tls.ts';
import { createServing } from './serving.ts';
import { shownListeners } from './shown-listeners.ts';
import { snapshotPath } from './state-directory.ts';
import { watchTls } from './watched-tls.ts';

/** Time to wait for a control plane before the saved state is served, in milliseconds. */
const WAIT_MS = 2000;

/**
 * Runs a proxy. Resolves when it serves, or after some seconds without a state; it then starts to serve when a control plane responds.
 * Rejects with `ERR_GATEWAY_PORT` when the admin port is in use, and with `ERR_GATEWAY_TLS` or `ERR_XDS_SNAPSHOT_FILE` if a key file is
 * unusable.
 */
export async function startProxy(settings: ProxySettings, { log, quit }: RoleProcess): Promise<RunningRole> {
  const startedAt = performance.now();
  const main = log.get('main');
  const metrics = createMetrics();
  const watchdog = createWatchdog({ metrics, log: main, thread: 'main_thread' });
  const token = adminTokenOf(settings);
  const shown = (read: ReturnType<typeof readClientTls>) => clientCertificates(read, settings);
  const tls = watchTls(() => readClientTls(settings), { log: log.get('secret'), shown });
  const path = snapshotPath(settings.snapshotFile, settings.proxyName, settings.stateDir);
  const key = settings.snapshotKeyFile === undefined ? undefined : readSnapshotKey(settings.snapshotKeyFile);
  const decoder = createStateDecoder();
  const saved = path === undefined ? undefined : readSaved(path, { key, decoder, log });
  const { context, dataPlane } = await createServing(settings, { log, metrics, secrets: decoder.secrets });
  const isConnected = (): boolean => client.connectedTo !== undefined;
  /** Set while the proxy waits for secrets and is not ready, although it serves. */
  let secretsWait: NodeJS.Timeout | undefined;
  const isHeld = (): boolean => secretsWait !== undefined;
  const { certificates } = tls;
  const parts = { settings, context, dataPlane, isConnected, isHeld, token, quit, certificates };
  const admin = await openProxyPorts(parts).catch(async (error: unknown) => {
    tls.close();
    watchdog.close();
    await dataPlane.close();
    throw error;
  });
  dataPlane.ownPortsChanged?.();
  const writer = path === undefined ? undefined : createSnapshotWriter({ path, key, log: main, metrics });
  const bind = createBinding(settings.bindAddress);
  const listening = Promise.withResolvers<void>();
  /** Resolves when all listeners are open for the first time. */
  const ready = Promise.withResolvers<RunningRole['facts']>();
  let isServing = false;
  /** The last logged reason why there is no state to serve. */
  let missingReason: string | undefined;
  /** True when the listeners of the newest state are open, or have failed. */
  let hasListened = false;
  /** The listeners that are not open, as they were reported last. */
  let closed: readonly ClosedListener[] = [];
  /** Time at which the served state was accepted. */
  let acceptedAt = 0;
  let fallback: NodeJS.Timeout | undefined;
  let failures = 0;

  function* apply({ snapshot, unserved }: DecodedState): Steps<Applied> {
    const {
      secretValues: secrets,
      secrets: { isPending: lacksSecrets },
    } = decoder;
    const applied = yield* dataPlane.apply({ snapshot: bind(snapshot), unserved, secrets, lacksSecrets });
    isServing = true;
    hasListened = false;
    void applied.listening
      .catch(() => {})
      .then(() => {
        hasListened = true;
        listening.resolve();
        checkListeners();
      });
    return applied;
  }

  /** Reports listeners that have failed or opened since the last report. */
  function checkListeners(): void {
    if (!hasListened) return;
    const now = closedListeners(dataPlane);
    if (dataPlane.unserved.length === 0 && !isHeld()) ready.resolve(facts());
    if (isDeepStrictEqual(now, closed)) return;
    closed = now;
    client.refresh();
  }

  function facts(): RunningRole['facts'] {
    const { unserved } = dataPlane;
    return {
      listeners: shownListeners(dataPlane),
      ...(unserved.length > 0 && { unserved }),
      ...(settings.workers > 1 && { workers: settings.workers }),
      ...admin.ports,
      controlPlane: client.connectedTo,
    };
  }

  /** Serves the saved state until a control plane responds. */
  function serveSaved(reason: string): void {
    clearTimeout(fallback);
    if (isServing) return;
    // A state is arriving; it is discarded if the connection is lost before it is complete.
    if (client.connectedTo !== undefined) return waitForState();
    if (!saved) {
      if (reason !== missingReason) main.warn({ reason }, 'no state to serve, waiting for a control plane');
      missingReason = reason;
      return listening.resolve();
    }
    waitForSecrets(path!);
    acceptedAt = saved.acceptedAt;
    const age = Math.round((context.now() - acceptedAt) / 1000);
    main.warn(
      { reason, file: path, ageSeconds: age, secrets: saved.secrets },
      'serving the state of the snapshot file',
    );
    try {
      for (const { type, resource, field, message } of runSteps(applyReceived(decoder, apply)).failed) {
        const rejected = { file: path, type: typeName(type), resource, field, reason: message };
        main.error(rejected, 'resource of snapshot file rejected');
      }
    } catch (error) {
      main.error({ file: path, reason: (error as Error).message }, 'snapshot file rejected');
      listening.resolve();
    }
    return undefined;
  }

  /** Other proxies may have the secrets that this one lacks: it takes their requests only if no control plane responds soon. */
  function waitForSecrets(file: string): void {
    if (!decoder.secrets.isPending) return;
    const waitMs = Math.max(0, startedAt + settings.secretsWaitSeconds * 1000 - performance.now());
    main.warn(
      { file, waitSeconds: Math.round(waitMs / 1000) },
      'snapshot file has no secrets: routes that need them return 503, and this proxy is not ready, until a control plane responds; ready without secrets after waitSeconds',
    );
    secretsWait = startTimer(() => {
      main.warn({ file }, 'ready without secrets: no control plane has responded');
      endSecretsWait();
    }, waitMs);
  }

  function endSecretsWait(): void {
    if (!secretsWait) return;
    clearTimeout(secretsWait);
    secretsWait = undefined;
    checkListeners();
  }

  function waitForState(): void {
    fallback = setTimeout(() => serveSaved(`no response within ${WAIT_MS / 1000} s`), WAIT_MS);
  }

  metrics.computed(
    { path: 'control_plane.snapshot_age_seconds', metric: 'envoy_control_plane_snapshot_age_seconds' },
    () => (acceptedAt === 0 || client.connectedTo !== undefined ? 0 : Math.round((context.now() - acceptedAt) / 1000)),
  );
  const client: DiscoveryClient = createDiscoveryClient({
    servers: settings.xds,
    node: { id: NODE_ID, proxy: settings.proxyName, namespace: gatewayNamespace() },
    tls: () => tls.current,
    decoder,
    isServed: () => isServing,
    apply,
    unavailable: () => closed,
    onAccepted() {
      clearTimeout(fallback);
      endSecretsWait();
      acceptedAt = context.now();
      writer?.write(() => ({ acceptedAt, resources: decoder.resources() }));
    },
    onFailure(_server, reason) {
      if (++failures >= settings.xds.length) serveSaved(reason);
    },
    traffic: createTrafficReports({
      metrics,
      refresh: dataPlane.refresh && (() => dataPlane.refresh!('stats')),
      now: context.now,
    }),
    log,
    metrics,
  });
  waitForState();
  await listening.promise;
  const isReady = isServing && dataPlane.unserved.length === 0 && !isHeld();
  const checks = setInterval(checkListeners, LISTENER_CHECK_MS);
  return {
    facts: facts(),
    isReady,
    ...(!isReady && { whenReady: ready.promise }),
    async stop() {
      clearTimeout(fallback);
      clearTimeout(secretsWait);
      clearInterval(checks);
      tls.close();
      client.close();
      await Promise.all([writer?.close(), dataPlane.drain(settings.drainSeconds * 1000)]);
      await dataPlane.close();
      await admin.close();
      watchdog.close();
    },
  };
}

interface ReadParts {
  readonly key: Uint8Array | undefined;
  readonly decoder: StateDecoder;
  readonly log: Loggers;
}

/** Makes a saved state the accepted one. Ignores an unusable file: a control plane may still respond. */
function readSaved(path: string, { key, decoder, log }: ReadParts): SavedState | undefined {
  try {
    const saved = readSnapshotFile(path, key);
    if (!saved) return undefined;
    for (const resource of saved.resources) decoder.restore(resource);
    decoder.build();
    decoder.accept();
    if (saved.secrets === 'locked')
      log.get('main').error({ file: path }, 'secrets in snapshot file are encrypted: --snapshot-key-file is not set');
    return saved;
  } catch (error) {
    decoder.discard();
    log.get('main').error({ file: path, reason: (error as Error).message }, 'snapshot file rejected');
    return undefined;
  }
}
