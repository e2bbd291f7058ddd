import { secretText, type SecretValue, type Secrets } from '../contract/snapshot.ts';
import type { ResourceRef } from '../resource/resource.ts';
import { certificateBlocks } from '../security/certificates.ts';
import { REDACTED_IN_LOG } from '../security/request-secrets.ts';
import { typed, type EnvoyMessage } from './message.ts';
import { secretName } from './tls.ts';

const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** A TLS secret as Secret messages: the certificate with its key redacted, and the root certificates. */
export function tlsSecrets(ref: ResourceRef, secrets: Secrets): EnvoyMessage[] {
  return secretMessages(secretName(ref), secrets.get(ref), () => REDACTED_IN_LOG);
}

/** A TLS secret as Envoys receive it, with its key. */
export function servedSecrets(name: string, secret: SecretValue): EnvoyMessage[] {
  return secretMessages(name, secret, () => secretText(secret, 'tls.key') ?? '');
}

function secretMessages(name: string, secret: SecretValue | undefined, keyOf: () => string): EnvoyMessage[] {
  const chain = certificatesIn(secretText(secret, 'tls.crt'));
  const ca = certificatesIn(secretText(secret, 'ca.crt'));
  return [
    ...(chain ? [typed(SECRET, { name, tls_certificate: certificate(chain, keyOf()) })] : []),
    ...(ca
      ? [typed(SECRET, { name: `${name}.ca`, validation_context: { trusted_ca: { inline_bytes: toBase64(ca) } } })]
      : []),
  ];
}

function certificate(chain: string, key: string): EnvoyMessage {
  return {
    certificate_chain: { inline_bytes: toBase64(chain) },
    private_key: { inline_bytes: toBase64(key) },
  };
}

/** Returns only the certificates: the file may contain keys as well. */
function certificatesIn(pem: string | undefined): string | undefined {
  const blocks = certificateBlocks(pem ?? '');
  return blocks.length > 0 ? `${blocks.join('\n')}\n` : undefined;
}
