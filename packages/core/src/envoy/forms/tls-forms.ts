import type { SslParameters } from '../../schema/listener/ssl-config.ts';
import type { Forms } from './form.ts';

/** Cipher suites of TLS 1.2 and below that BoringSSL has. Those of TLS 1.3 cannot be selected there. */
const CIPHER_SUITES: ReadonlySet<string> = new Set(
  ['ECDSA', 'RSA']
    .flatMap((kind) => [
      `ECDHE-${kind}-AES128-GCM-SHA256`,
      `ECDHE-${kind}-AES128-SHA`,
      `ECDHE-${kind}-AES256-GCM-SHA384`,
      `ECDHE-${kind}-AES256-SHA`,
      `ECDHE-${kind}-CHACHA20-POLY1305`,
    ])
    .concat('AES128-GCM-SHA256', 'AES128-SHA', 'AES256-GCM-SHA384', 'AES256-SHA'),
);
const CURVES: ReadonlySet<string> = new Set(['P-256', 'P-384', 'P-521', 'X25519']);

/** What Envoy expresses of the parameters of TLS: it rejects a listener or cluster with others. */
export const TLS_PARAMETERS: Forms<SslParameters> = {
  minimumProtocolVersion: 'yes',
  maximumProtocolVersion: 'yes',
  cipherSuites: {
    when: 'those of BoringSSL for TLS 1.2',
    holds: (names: readonly string[]) => names.every((name) => CIPHER_SUITES.has(name)),
  },
  ecdhCurves: {
    when: 'P-256, P-384, P-521 and X25519',
    holds: (names: readonly string[]) => names.every((name) => CURVES.has(name)),
  },
};
