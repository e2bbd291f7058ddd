import type { Logger, ServerTls } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient, type ClusterRequest } from '../client/cluster-client.ts';
import { objectKey, pathOf, type ClusterObject, type ResourceType } from '../watch/cluster-object.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';
import { base64, certificateSetIn, NO_ENTRIES, secretData } from './certificate-secret.ts';
import {
  DEFAULT_CERTIFICATE_TIMING,
  isServable,
  renewalDelay,
  renewed,
  type CertificateSet,
  type CertificateTiming,
} from './certificate-set.ts';

/** Options of {@link createWebhookCertificates}. */
export interface WebhookCertificatesOptions {
  readonly client: Pick<ClusterClient, 'send' | 'stream'>;
  /** Of the Secret with the certificates. */
  readonly namespace: string;
  /** Name of that Secret. */
  readonly secret: string;
  /** Name of the ValidatingWebhookConfiguration that has to trust the certificates. */
  readonly configuration: string;
  /** DNS names and IP addresses under which the API server calls the webhook. */
  readonly names: readonly string[];
  readonly log: Logger;
  /** Whether this process may write now. */
  isLeader(): boolean;
  /** Called with each certificate to serve. */
  onCertificate(tls: ServerTls): void;
  readonly timing?: Partial<CertificateTiming>;
  readonly watchTiming?: Partial<ReflectorTiming>;
}

/** Certificates of the webhook, which all control planes share. */
export interface WebhookCertificates {
  start(): void;
  /** Starts to write, after this process became leader. */
  resume(): void;
  close(): Promise<void>;
}

const SECRETS: ResourceType = { group: '', version: 'v1', plural: 'secrets' };
const CONFIGURATIONS: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
};
const COLLECT_MS = 50;
/** Pause after a failed write. */
const RETRY_MS = 5_000;
/** Certificates are checked at least this often, so that a changed clock has an effect. */
const MAX_DELAY_MS = 3_600_000;

/** The Secret as it is in the cluster. */
interface StoredSet {
  readonly set: CertificateSet | undefined;
  readonly resourceVersion: string | undefined;
}

interface WebhookEntry {
  readonly name: string;
  readonly caBundle: string | undefined;
}

/**
 * Keeps the certificates of the webhook in a Secret, and their authorities in the ValidatingWebhookConfiguration. The leader makes and renews
 * them; all control planes serve what the Secret contains. The key of an authority is not kept: each certificate has an authority of its own.
 */
export function createWebhookCertificates(options: WebhookCertificatesOptions): WebhookCertificates {
  const { client, namespace, secret, configuration, names, log, isLeader, onCertificate, watchTiming } = options;
  const resource = `secrets ${namespace}/${secret}`;
  const timing = { ...DEFAULT_CERTIFICATE_TIMING, ...options.timing };
  const closing = new AbortController();
  const { signal } = closing;
  /** `undefined` before the first list. */
  let stored: StoredSet | undefined;
  let webhooks: readonly WebhookEntry[] | undefined;
  let served: string | undefined;
  /** The roots that the configuration is known to have, and since when. */
  let trusted: { readonly roots: string; readonly since: number } | undefined;
  let reported: string | undefined;
  let isMissingReported = false;

  const follow = (
    type: ResourceType,
    name: string,
    within: string | undefined,
    set: (object?: ClusterObject) => void,
  ) =>
    createReflector<ClusterObject>({
      client,
      type,
      namespace: within,
      fieldSelector: `metadata.name=${name}`,
      log,
      timing: watchTiming,
      select: (object) => object,
      onChange({ changed, deleted }) {
        const key = objectKey({ namespace: within, name });
        if (changed.has(key)) set(changed.get(key));
        else if (deleted.includes(key) || changed.size === 0) set();
        work.schedule();
      },
    });
  const reflectors: Reflector[] = [
    follow(SECRETS, secret, namespace, (object) => {
      stored = { set: certificateSetIn(object?.['data']), resourceVersion: object?.metadata.resourceVersion };
      serve();
    }),
    follow(CONFIGURATIONS, configuration, undefined, (object) => {
      webhooks = object && webhooksIn(object);
      noteTrust();
    }),
  ];
  const work = createScheduledWork({ collectMs: COLLECT_MS, retryMs: RETRY_MS, log, work: reconcile });

  function serve(): void {
    const { set } = stored ?? {};
    if (!set || served === `${set.certificate}${set.key}`) return;
    // Until the leader replaces it, the certificate in use is served.
    if (!isServable(set)) return log.warn({ resource }, 'unusable webhook certificate');
    served = `${set.certificate}${set.key}`;
    onCertificate({ certificate: set.certificate, key: set.key });
  }

  function noteTrust(): void {
    const roots = stored?.set?.roots;
    const isTrusted =
      roots !== undefined && webhooks !== undefined && webhooks.every(({ caBundle }) => caBundle === base64(roots));
    if (!isTrusted) trusted = undefined;
    else if (trusted?.roots !== roots) trusted = { roots, since: performance.now() };
  }

  async function reconcile(): Promise<void> {
    if (!stored || !isLeader() || signal.aborted) return;
    try {
      noteTrust();
      const next = renewed(stored.set, renewalState());
      if (next !== stored.set) await store(next);
      await trust(next);
      noteTrust();
      reported = undefined;
      work.schedule(Math.min(MAX_DELAY_MS, renewalDelay(next, renewalState()) + COLLECT_MS));
    } catch (error) {
      failed(error);
    }
  }

  function renewalState() {
    const trustedMs = trusted ? performance.now() - trusted.since : 0;
    return { now: Date.now(), names, trustedMs, timing };
  }

  /** Writes the Secret, unless somebody else was faster: their version arrives by the watch. */
  async function store(next: CertificateSet): Promise<void> {
    const { resourceVersion } = stored!;
    const written = await client.send<ClusterObject>(resourceVersion ? changed(next, resourceVersion) : created(next));
    stored = { set: next, resourceVersion: written.metadata.resourceVersion };
    log.info({ resource, step: stepOf(next) }, 'webhook certificate written');
    serve();
  }

  function created(next: CertificateSet): ClusterRequest {
    const metadata = { name: secret, namespace, labels: { app: 'gw' } };
    const body = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data: secretData(next) };
    return { method: 'POST', path: pathOf(SECRETS, namespace), body, signal };
  }

  /** Keeps what others wrote of it, such as the labels of a chart. */
  function changed(next: CertificateSet, resourceVersion: string): ClusterRequest {
    const body = { metadata: { resourceVersion }, data: { ...NO_ENTRIES, ...secretData(next) } };
    const path = pathOf(SECRETS, namespace, secret);
    return { method: 'PATCH', path, contentType: 'application/merge-patch+json', body, signal };
  }

  /** Writes the roots into the configuration, which is not ours: it comes from the chart. */
  async function trust({ roots }: CertificateSet): Promise<void> {
    if (!webhooks) {
      if (!isMissingReported) log.warn({ configuration }, 'there is no ValidatingWebhookConfiguration of this name');
      isMissingReported = true;
      return;
    }
    isMissingReported = false;
    const caBundle = base64(roots);
    if (webhooks.every((each) => each.caBundle === caBundle)) return;
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: configuration },
      webhooks: webhooks.map(({ name }) => ({ name, clientConfig: { caBundle } })),
    };
    const written = await client.send<ClusterObject>({
      method: 'PATCH',
      path: pathOf(CONFIGURATIONS, undefined, configuration),
      query: { fieldManager: `edge-gateway-${namespace}`, force: true },
      contentType: 'application/apply-patch+yaml',
      body,
      signal,
    });
    webhooks = webhooksIn(written);
  }

  function failed(error: unknown): void {
    if (signal.aborted) return;
    work.schedule(isApiError(error) ? Math.max(RETRY_MS, error.retryAfterMs ?? 0) : RETRY_MS);
    // Another control plane was faster; the watch delivers what it wrote.
    if (isApiError(error, 409)) return;
    const reason = connectionProblem(error);
    if (reason !== reported) log.warn({ reason }, 'failed to renew the certificates of the webhook');
    reported = reason;
  }

  return {
    start() {
      for (const reflector of reflectors) void reflector.start();
    },
    resume: () => work.schedule(),
    async close() {
      closing.abort();
      await work.close();
      await Promise.all(reflectors.map((reflector) => reflector.close()));
    },
  };
}

const stepOf = ({ next }: CertificateSet): string => (next ? 'renewal begins' : 'in use');

function webhooksIn({ webhooks }: ClusterObject): WebhookEntry[] {
  const list = Array.isArray(webhooks) ? (webhooks as { name: string; clientConfig?: { caBundle?: string } }[]) : [];
  return list.map(({ name, clientConfig }) => ({ name, caBundle: clientConfig?.caBundle }));
}
