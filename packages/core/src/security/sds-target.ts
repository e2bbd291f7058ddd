import { BlockList, isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Sds } from '../schema/listener/ssl-config.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import { isHeaderName } from '../http/reserved-headers.ts';

/** A server of secret discovery: an address on this machine, or an upstream by its name in snapshots. */
export type SdsServer =
  | { readonly address: string; readonly port: number; readonly upstream?: undefined }
  | { readonly upstream: string };

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Returns the path of a secret discovery file; `undefined` if `targetUri` is a server or an invalid file URL.
 *
 * @example
 * sdsFileOf({ targetUri: 'file:///etc/sds.yaml' }); // '/etc/sds.yaml'
 */
export function sdsFileOf({ targetUri = '' }: Sds): string | undefined {
  if (/^\.{0,2}\//.test(targetUri)) return targetUri;
  if (!targetUri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(targetUri);
  } catch {
    return undefined;
  }
}

/** Returns the server of a certificate; `undefined` for a file or an invalid `targetUri`. */
export function sdsServerOf(sds: Sds): SdsServer | undefined {
  const { targetUri, clusterName } = sds;
  if (sdsFileOf(sds) !== undefined) return undefined;
  if (clusterName && clusterName !== DEFAULTS.sdsClusterName) return { upstream: clusterName };
  return addressOf(targetUri || DEFAULTS.sdsTargetUri);
}

/**
 * Returns the name of the file or the server of a certificate for messages: a path, an address, or `upstream` with its name.
 *
 * @example
 * sdsSourceOf({ clusterName: 'sds_gw-system' }); // 'upstream sds_gw-system'
 */
export function sdsSourceOf(sds: Sds): string {
  const server = sdsServerOf(sds);
  if (!server) return sdsFileOf(sds) ?? sds.targetUri ?? '';
  if (server.upstream !== undefined) return `upstream ${server.upstream}`;
  return sds.targetUri || DEFAULTS.sdsTargetUri;
}

function addressOf(targetUri: string): SdsServer | undefined {
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(targetUri)?.[1];
  if (unix) return { address: unix, port: 0 };
  const abstract = /^unix-abstract:(.+)$/.exec(targetUri)?.[1];
  if (abstract) return { address: `@${abstract}`, port: 0 };
  const [, bracketed, name, digits] =
    /^(?:(?:dns|ipv4|ipv6):(?:\/\/\/)?)?(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(targetUri) ?? [];
  const address = bracketed ?? name;
  const port = Number(digits);
  return address !== undefined && port > 0 && port < 65_536 ? { address, port } : undefined;
}

/** Returns true for a socket of this machine. */
function isLocal({ address }: { readonly address: string }): boolean {
  const family = isIP(address);
  if (family === 0) return address === 'localhost' || /^[/@]/.test(address);
  return LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Returns why a certificate cannot be read by secret discovery; `undefined` if it can. */
export function sdsProblem(sds: Sds): string | undefined {
  const { targetUri = '', certificatesSecretName, validationContextName, callCredentials } = sds;
  if (!certificatesSecretName && !validationContextName)
    return 'sds needs certificatesSecretName or validationContextName';
  if (sdsFileOf(sds) !== undefined) return undefined;
  if (targetUri.startsWith('file:'))
    return `'${targetUri}' is not the URL of a file on this machine, such as file:///etc/sds.yaml`;
  const server = sdsServerOf(sds);
  if (!server) return `invalid targetUri '${targetUri}': use a path, file:///path, unix:/path or 127.0.0.1:8234`;
  if (server.upstream === undefined && !isLocal(server))
    return `targetUri '${targetUri}' is not on this machine, and secrets would be sent unencrypted: set clusterName to the name of an upstream with sslConfig`;
  return callCredentials && credentialsProblem(callCredentials);
}

function credentialsProblem({ fileCredentialSource }: NonNullable<Sds['callCredentials']>): string | undefined {
  const { tokenFileName, header } = fileCredentialSource ?? {};
  if (!tokenFileName) return 'callCredentials needs fileCredentialSource.tokenFileName';
  if (!header) return undefined;
  const isValid = isHeaderName(header) && !/^grpc-|-bin$|^(?:content-type|host|te|user-agent)$/i.test(header);
  return isValid ? undefined : `'${header}' cannot be the header of callCredentials`;
}
