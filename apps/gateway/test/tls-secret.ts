import { readFileSync } from 'node:fs';

/** The document of a Secret `t` with a certificate. */
export function tlsSecret(): string {
  const at = (file: string): string =>
    readFileSync(new URL(`../../../packages/routing/test/upstream/certificates/${file}`, import.meta.url)).toString(
      'base64',
    );
  return `
apiVersion: v1
kind: Secret
metadata: { name: t }
type: kubernetes.io/tls
data: { tls.crt: ${at('server.crt')}, tls.key: ${at('server.key')} }
`;
}
