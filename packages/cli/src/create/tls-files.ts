import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { parseCertificates } from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { readFlagFile, valueOf, type Flags, type SecretContent } from './flags.ts';

/** Reads the PEM files of a TLS secret, and rejects those that no listener or upstream could use. */
export function readTls(io: Io, flags: Flags): SecretContent {
  const bytes = (flag: string): Buffer | undefined => {
    const path = valueOf(flags, flag);
    return path === undefined ? undefined : readFlagFile(io, flag, path);
  };
  const names = { certchain: 'tls.crt', privatekey: 'tls.key', rootca: 'ca.crt' };
  const texts = Object.entries(names).flatMap(([flag, name]) => {
    const text = bytes(flag)?.toString('utf8');
    return text === undefined ? [] : [[name, text] as const];
  });
  const data = Object.fromEntries(texts);
  checkTlsFiles(data);
  const staple = bytes('ocspstaple');
  return { data: { ...data, ...(staple && { 'tls.ocsp-staple': staple }) } };
}

/** Messages name the flag, never the content. */
function checkTlsFiles(files: Readonly<Record<string, string>>): void {
  const { 'tls.crt': chain, 'tls.key': key, 'ca.crt': rootCa } = files;
  if (Object.keys(files).length === 0)
    throw cliError('ERR_CLI_USAGE', 'missing --certchain with --privatekey, or --rootca');
  if ((chain === undefined) !== (key === undefined))
    throw cliError('ERR_CLI_USAGE', '--certchain and --privatekey must be used together');
  if (rootCa !== undefined) leafOf('rootca', rootCa);
  if (chain === undefined || key === undefined) return;
  if (leafOf('certchain', chain).checkPrivateKey(privateKeyOf(key))) return;
  throw cliError('ERR_CLI_USAGE', 'the key of --privatekey does not belong to the certificate of --certchain');
}

function leafOf(flag: string, pem: string): X509Certificate {
  const [leaf] = parseCertificates(pem) ?? [];
  if (leaf) return leaf;
  throw cliError('ERR_CLI_USAGE', `--${flag} does not contain a readable PEM certificate`);
}

function privateKeyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw cliError('ERR_CLI_USAGE', '--privatekey does not contain a readable PEM private key without passphrase');
  }
}
