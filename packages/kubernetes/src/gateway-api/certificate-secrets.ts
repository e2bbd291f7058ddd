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
  /** Follows these, and no longer others. Resolves when all of them are known. */
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
  const reflectors = new Map<string, Reflector>();
  const states = new Map<string, CertificateState>();

  function followOne(key: string): Reflector {
    const [namespace, name] = key.split('/') as [string, string];
    return createReflector<CertificateState>({
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
  }

  return {
    async follow(keys) {
      for (const [key, reflector] of reflectors) {
        if (keys.has(key)) continue;
        reflectors.delete(key);
        states.delete(key);
        void reflector.close();
      }
      for (const key of keys) if (!reflectors.has(key)) reflectors.set(key, followOne(key));
      await Promise.all([...reflectors.values()].map((reflector) => reflector.start()));
    },
    get({ name, namespace }) {
      return states.get(`${namespace}/${name}`) ?? { problem: `Secret ${namespace}/${name} not found` };
    },
    async close() {
      await Promise.all([...reflectors.values()].map((reflector) => reflector.close()));
    },
  };
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
    return isMatch ? { data } : { problem: `the key in ${label} does not belong to its certificate` };
  } catch {
    return { problem: `${label} does not contain a valid certificate and key` };
  }
}
