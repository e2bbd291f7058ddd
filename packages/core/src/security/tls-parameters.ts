import { createSecureContext, getCiphers, type SecureContextOptions } from 'node:tls';
import type { SslParameters } from '../schema/listener/ssl-config.ts';
import { TLS_VERSIONS } from './tls-material.ts';

/** Cipher suites without authentication or encryption, and those that need a shared key. */
const UNUSABLE = /null|anon|adh|aecdh|psk|srp/;
const CIPHERS = new Set(getCiphers().filter((name) => !UNUSABLE.test(name)));

/** Versions, ciphers and curves for Node's TLS functions. */
export type TlsParameters = Pick<SecureContextOptions, 'minVersion' | 'maxVersion' | 'ciphers' | 'ecdhCurve'>;

/**
 * Returns the TLS parameters of a resource as options of Node. Groups of equal preference, `[a|b]`, become a list.
 *
 * @example
 * createSecureContext(tlsParameters({ minimumProtocolVersion: 'TLSv1_3', ecdhCurves: ['X25519'] }));
 */
export function tlsParameters(written: SslParameters = {}): TlsParameters {
  const { minimumProtocolVersion, maximumProtocolVersion } = written;
  const minVersion = TLS_VERSIONS[minimumProtocolVersion ?? ''];
  const maxVersion = TLS_VERSIONS[maximumProtocolVersion ?? ''];
  const ciphers = separate(written.cipherSuites);
  const curves = separate(written.ecdhCurves);
  return {
    ...(minVersion && { minVersion }),
    ...(maxVersion && { maxVersion }),
    ...(ciphers.length > 0 && { ciphers: ciphers.join(':') }),
    ...(curves.length > 0 && { ecdhCurve: curves.join(':') }),
  };
}

/** A problem of one field of TLS parameters. */
export interface TlsParameterProblem {
  readonly field: keyof SslParameters;
  readonly message: string;
}

/** Returns what is wrong with TLS parameters, by field. */
export function tlsParameterProblems(written: SslParameters): readonly TlsParameterProblem[] {
  const { minVersion = '', maxVersion = '' } = tlsParameters(written);
  const ciphers = separate(written.cipherSuites).filter((name) => !CIPHERS.has(name.toLowerCase()));
  const curves = separate(written.ecdhCurves).filter((name) => !isCurve(name));
  const isEmpty = minVersion !== '' && maxVersion !== '' && minVersion > maxVersion;
  const problems: TlsParameterProblem[] = [];
  for (const name of ciphers) problems.push({ field: 'cipherSuites', message: `unknown cipher suite '${name}'` });
  for (const name of curves) problems.push({ field: 'ecdhCurves', message: `unknown curve '${name}'` });
  if (isEmpty)
    problems.push({
      field: 'maximumProtocolVersion',
      message: `no TLS version between ${minVersion} and ${maxVersion}`,
    });
  return problems;
}

function separate(names: readonly string[] = []): readonly string[] {
  return names.flatMap((name) => name.replace(/^\[|\]$/g, '').split('|')).filter((name) => name !== '');
}

function isCurve(name: string): boolean {
  try {
    createSecureContext({ ecdhCurve: name });
    return /^[\w-]+$/.test(name);
  } catch {
    return false;
  }
}
