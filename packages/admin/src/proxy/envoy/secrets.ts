import { certificateBlocks, REDACTED_IN_LOG, secretText, type ResourceRef, type Secrets } from '@edge-gateway/core';
import { typed, type Message } from './json.ts';
import { secretName } from './tls.ts';

const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** A TLS secret as Secret messages: the certificate with its key redacted, and the root certificates. */
export function tlsSecrets(ref: ResourceRef, secrets: Secrets): Message[] {
  const secret = secrets.get(ref);
  const chain = certificatesIn(secretText(secret, 'tls.crt'));
  const ca = certificatesIn(secretText(secret, 'ca.crt'));
  const name = secretName(ref);
  return [
    ...(chain ? [typed(SECRET, { name, tls_certificate: certificate(chain) })] : []),
    ...(ca
      ? [typed(SECRET, { name: `${name}.ca`, validation_context: { trusted_ca: { inline_bytes: toBase64(ca) } } })]
      : []),
  ];
}

function certificate(chain: string): Message {
  return {
    certificate_chain: { inline_bytes: toBase64(chain) },
    private_key: { inline_bytes: toBase64(REDACTED_IN_LOG) },
  };
}

/** Returns only the certificates: the file may contain keys as well. */
function certificatesIn(pem: string | undefined): string | undefined {
  const blocks = certificateBlocks(pem ?? '');
  return blocks.length > 0 ? `${blocks.join('\n')}\n` : undefined;
}
