import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { UsedCertificates } from '@edge-gateway/admin';
import {
  gatewayNamespace,
  DEFAULTS,
  settingsKey,
  watchedNamespaces,
  type ControlPlane,
  type ListeningServer,
  type Loggers,
  type Metrics,
  type ServerTls,
} from '@edge-gateway/core';
import type { SettingsSpec, ValidationSettings } from '@edge-gateway/core/schema';
import {
  createWebhookCertificates,
  issueCertificate,
  startAdmissionServer,
  type AdmissionServerOptions,
} from '@edge-gateway/kubernetes';
import { VALIDATION_PORT, type ControlPlaneSettings } from '../command-line/control-plane-role.ts';
import type { Cluster } from './cluster.ts';
import { portError } from './port-error.ts';
import { flagCertificates } from './flag-certificates.ts';
import { readRoots, readServerTls } from './server-tls.ts';
import { watchTls } from './watched-tls.ts';

/** The Secret with the certificates of the webhook. */
const SECRET = 'gateway-validation-certs';
/** A control plane that is not ready within this time would look like one that hangs. */
const MAX_WAIT_MS = 10_000;
const DAY_MS = 86_400_000;

interface ClusterValidationParts {
  readonly settings: ControlPlaneSettings;
  readonly cluster: Cluster;
  readonly controlPlane: ControlPlane;
  readonly log: Loggers;
  readonly metrics: Metrics;
}

/** A running webhook. */
export interface ClusterValidation {
  readonly port: number;
  /** The certificates of its files. */
  certificates(): readonly UsedCertificates[];
  /** Stops accepting reviews; resolves when those in progress have their responses. */
  close(): Promise<void>;
}

/**
 * Starts the validating admission webhook, if its port is set. Resolves when it serves its certificate, or after 10 s without one. Rejects with `ERR_GATEWAY_PORT` when the port is in use, and with
 * `ERR_GATEWAY_TLS` for an unusable certificate.
 */
export async function startClusterValidation(parts: ClusterValidationParts): Promise<ClusterValidation | undefined> {
  const { settings, cluster, controlPlane, metrics } = parts;
  const { validationPort: port, validationAddress: address } = settings;
  if (port === undefined) return undefined;
  const log = parts.log.get('config');
  const target = {
    settings: () => validationOf(controlPlane),
    isWatched: cluster.source.isWatched,
    preview: controlPlane.preview,
    namespaces: {
      unitsIn: cluster.source.unitsIn,
      isSelected: (namespace: string, labels: Readonly<Record<string, string>>) =>
        watchedNamespaces(settingsOf(controlPlane) ?? {})?.(namespace, labels) ?? true,
    },
  };
  const {
    validationWebhookTlsCert: tlsCert = DEFAULTS.validationCert,
    validationWebhookTlsKey: tlsKey = DEFAULTS.validationKey,
  } = target.settings() ?? {};
  const namespace = gatewayNamespace();
  const {
    validationNames: names = [`gw.${namespace}.svc`],
    validationWebhook: configuration = `gw-gateway-validation-webhook-${namespace}`,
    validationClientCa,
  } = settings;
  let server: ListeningServer | undefined;
  let current: ServerTls;
  const clientCa = validationClientCa === undefined ? undefined : watchClientCa(validationClientCa);
  const withClientCa = (tls: ServerTls): ServerTls => ({ ...tls, ...(clientCa && { clientCa: clientCa.current }) });
  const onCertificate = (tls: ServerTls): void => {
    current = tls;
    server?.replaceTls(withClientCa(tls));
  };
  function watchClientCa(file: string) {
    const read = () => readRoots('--validation-client-ca', file);
    const flags = { certificate: ['', undefined], ca: ['--validation-client-ca', file] } as const;
    const shown = (ca: string) => flagCertificates({ ca }, flags);
    return watchTls(read, { log: parts.log.get('secret'), shown, onChange: () => onCertificate(current) });
  }
  if (existsSync(tlsCert)) {
    const read = () => readServerTls({ tlsCert, tlsKey }, 'validationWebhook')!;
    const flags = { certificate: ['validationWebhookTlsCert', tlsCert], ca: ['', undefined] } as const;
    const shown = ({ certificate }: ServerTls) => flagCertificates({ certificate }, flags);
    const watched = watchTls(read, { log: parts.log.get('secret'), shown, onChange: onCertificate });
    const certificates = () => [...watched.certificates(), ...(clientCa?.certificates() ?? [])];
    current = watched.current;
    server = await listen({ target, log, metrics, address, port, tls: withClientCa(current) });
    return { port: server.port, certificates, close: () => closeAll(server!, watched, clientCa) };
  }
  const first = Promise.withResolvers<void>();
  // The API server does not trust it: reviews fail until the shared certificate is known.
  const untrusted = issueCertificate(names, { from: new Date(), to: new Date(Date.now() + DAY_MS) });
  current = untrusted;
  server = await listen({ target, log, metrics, address, port, tls: withClientCa(untrusted) });
  const certificates = createWebhookCertificates({
    client: cluster.client,
    namespace,
    secret: SECRET,
    configuration,
    names,
    log,
    isLeader: cluster.election.isLeader,
    onCertificate(tls) {
      onCertificate(tls);
      first.resolve();
    },
  });
  cluster.onLeadership((isLeader) => isLeader && certificates.resume());
  certificates.start();
  await Promise.race([first.promise, wait(MAX_WAIT_MS, undefined, { ref: false })]);
  return {
    port: server.port,
    certificates: () => clientCa?.certificates() ?? [],
    close: () => closeAll(server!, certificates, clientCa),
  };
}

const validationOf = (controlPlane: ControlPlane): ValidationSettings | undefined =>
  settingsOf(controlPlane)?.gateway?.validation;

function settingsOf({ state }: ControlPlane): SettingsSpec | undefined {
  return state?.resources.get(settingsKey())?.spec as SettingsSpec | undefined;
}

async function listen(options: AdmissionServerOptions): Promise<ListeningServer> {
  try {
    return await startAdmissionServer(options);
  } catch (cause) {
    const { port, address } = options;
    const remedy = `${VALIDATION_PORT.flag} N`;
    throw portError({
      port,
      address,
      what: VALIDATION_PORT.what,
      remedy,
      addressRemedy: '--validation-address',
      cause,
    });
  }
}

interface Closable {
  close(): void | Promise<void>;
}

async function closeAll(server: ListeningServer, ...others: readonly (Closable | undefined)[]): Promise<void> {
  await server.drain();
  for (const each of others) await each?.close();
  server.close();
}
