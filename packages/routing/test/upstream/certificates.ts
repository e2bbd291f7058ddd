import { readFileSync } from 'node:fs';
import { readCertificateFiles, type ResourceRef, type Secrets, type SecretValue } from '@edge-gateway/core';
import type { SslFiles } from '@edge-gateway/core/schema';

const read = (file: string): string => readFileSync(new URL(`certificates/${file}`, import.meta.url), 'utf8');
const pair = (name: string): { cert: string; key: string } => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) });

/** Path of one of the files. */
export const certificatePath = (file: string): string => new URL(`certificates/${file}`, import.meta.url).pathname;

/**
 * Certificates made for the tests. `server` is for `api.example.com`, `localhost` and `spiffe://example.com/api`;
 * it, `client` and `expired` (for the same DNS names) are signed by `ca`, nothing by `otherCa`.
 */
export function certificates() {
  return {
    ca: read('ca.crt'),
    otherCa: read('other-ca.crt'),
    server: pair('server'),
    client: pair('client'),
    expired: pair('expired'),
  };
}

/** Secrets of `gw-system`, from their keys in plain text, and any files. `set` replaces one. */
export function secretsOf(texts: Record<string, Record<string, string>>): Secrets & {
  set(name: string, data: Record<string, string> | undefined): void;
} {
  const values = new Map<string, SecretValue>();
  const secrets = {
    get: ({ name, namespace }: ResourceRef) => (namespace === 'gw-system' ? values.get(name) : undefined),
    files: (files: SslFiles) => readCertificateFiles(files).secret,
    set(name: string, data: Record<string, string> | undefined) {
      if (!data) return void values.delete(name);
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      values.set(name, { type: 'kubernetes.io/tls', data: Object.fromEntries(encoded) });
    },
  };
  for (const [name, data] of Object.entries(texts)) secrets.set(name, data);
  return secrets;
}
