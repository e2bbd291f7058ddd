import { fileURLToPath } from 'node:url';
import type { Sds } from '../schema/listener/ssl-config.ts';

/** Problem of a `targetUri` that is a server. */
export const SDS_SERVER =
  'secret discovery over gRPC is not supported yet: targetUri must be a file, such as file:///etc/sds.yaml';

/** Returns the path of a secret discovery file; `undefined` if `targetUri` is a server or an invalid file URL. */
export function sdsFileOf({ targetUri = '' }: Sds): string | undefined {
  if (/^\.{0,2}\//.test(targetUri)) return targetUri;
  if (!targetUri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(targetUri);
  } catch {
    return undefined;
  }
}

/** Returns why a certificate cannot be read by secret discovery; `undefined` if it can. */
export function sdsProblem(sds: Sds): string | undefined {
  const { targetUri = '', certificatesSecretName, validationContextName } = sds;
  if (!certificatesSecretName && !validationContextName)
    return 'sds needs certificatesSecretName or validationContextName';
  if (sdsFileOf(sds) !== undefined) return undefined;
  return targetUri.startsWith('file:')
    ? `'${targetUri}' is not the URL of a file on this machine, such as file:///etc/sds.yaml`
    : undefined;
}
