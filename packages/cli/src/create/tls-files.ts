import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { parseCertificates } from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';

/** The PEM files of a TLS secret. */
export interface TlsFiles {
  readonly chain: string | undefined;
  readonly key: string | undefined;
  readonly rootCa: string | undefined;
}

/** Rejects files that no listener or upstream could use. Messages name the flag, never the content. */
export function checkTlsFiles({ chain, key, rootCa }: TlsFiles): void {
  if (chain === undefined && key === undefined && rootCa === undefined) {
    throw cliError('ERR_CLI_USAGE', 'missing --certchain with --privatekey, or --rootca');
  }
  if ((chain === undefined) !== (key === undefined)) {
    throw cliError('ERR_CLI_USAGE', '--certchain and --privatekey must be used together');
  }
  if (rootCa !== undefined) certificatesOf('rootca', rootCa);
  if (chain === undefined || key === undefined) return;
  const [leaf] = certificatesOf('certchain', chain);
  if (!leaf!.checkPrivateKey(privateKeyOf(key))) {
    throw cliError('ERR_CLI_USAGE', 'the key of --privatekey does not belong to the certificate of --certchain');
  }
}

function certificatesOf(flag: string, pem: string): X509Certificate[] {
  const found = parseCertificates(pem);
  if (found) return found;
  throw cliError('ERR_CLI_USAGE', `--${flag} does not contain a readable PEM certificate`);
}

function privateKeyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw cliError('ERR_CLI_USAGE', '--privatekey does not contain a readable PEM private key without passphrase');
  }
}
