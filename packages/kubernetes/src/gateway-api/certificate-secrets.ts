import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Logger } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { ClusterObject } from '../watch/cluster-object.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import type { CertificateState } from './gateway-objects.ts';

interface CertificateSecretsOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
  onChange(): void;
}

/** The Secrets that Gateways refer to; no others are read. */
export interface CertificateSecrets {
  /** Follows these, and no longer others. Resolves when all of them are known, or cannot be read. */
  follow(keys: ReadonlySet<string>): Promise<void>;
  get(ref: { readonly name: string; readonly namespace: string }): CertificateState;
  close(): Promise<void>;
}

/** Creates a reader of single Secrets. */
export function createCertificateSecrets({
  client,
  log,
  timing,
  onChange,
}: CertificateSecretsOptions): CertificateSecrets {
  const followed = new Map<string, FollowedSecret>();
  const states = new Map<string, CertificateState>();

  function followOne(key: string): FollowedSecret {
    const [namespace, name] = key.split('/') as [string, string];
    const reflector = createReflector<CertificateState>({
      client,
      type: { group: '', version: 'v1', plural: 'secrets' },
      namespace,
      fieldSelector: `metadata.name=${name}`,
      log,
      timing,
      select: certificateState,
      onChange({ changed, deleted }) {
        for (const [, state] of changed) states.set(key, state);
        if (deleted.length > 0) states.delete(key);
        onChange();
      },
    });
    return { reflector, settled: knownOrFailed(reflector) };
  }

  return {
    async follow(keys) {
      for (const [key, { reflector }] of followed) {
        if (keys.has(key)) continue;
        followed.delete(key);
        states.delete(key);
        void reflector.close();
      }
      for (const key of keys) if (!followed.has(key)) followed.set(key, followOne(key));
      await Promise.all([...followed.values()].map(({ settled }) => settled));
    },
    get({ name, namespace }) {
      return states.get(`${namespace}/${name}`) ?? { problem: `Secret ${namespace}/${name} not found` };
    },
    async close() {
      await Promise.all([...followed.values()].map(({ reflector }) => reflector.close()));
    },
  };
}

interface FollowedSecret {
  readonly reflector: Reflector;
  /** Resolves when the Secret is known, or cannot be read. */
  readonly settled: Promise<void>;
}

const POLL_MS = 20;

/** Starts a reflector. Resolves when it has its list, or a problem: a Secret that cannot be read must not delay the others. */
async function knownOrFailed(reflector: Reflector): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => reflector.problem && resolve(), POLL_MS);
  await Promise.race([reflector.start(), promise]);
  clearInterval(timer);
}

/** Returns the certificate of a Secret, or what is wrong with it. */
export function certificateState({ metadata, ...body }: ClusterObject): CertificateState {
  const { type, data = {} } = body as { type?: unknown; data?: Readonly<Record<string, string>> };
  const label = `Secret ${metadata.namespace}/${metadata.name}`;
  if (type !== 'kubernetes.io/tls') return { problem: `${label} is not of type kubernetes.io/tls` };
  const { 'tls.crt': certificate, 'tls.key': key } = data;
  if (!certificate || !key) return { problem: `${label} has no tls.crt or no tls.key` };
  try {
    const parsed = new X509Certificate(Buffer.from(certificate, 'base64'));
    const isMatch = parsed.checkPrivateKey(createPrivateKey(Buffer.from(key, 'base64')));
    return isMatch ? { type, data } : { problem: `the key in ${label} does not belong to its certificate` };
  } catch {
    return { problem: `${label} does not contain a valid certificate and key` };
  }
}
