import type { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Asn1Ocsp from '@peculiar/asn1-ocsp';
import type * as Asn1Schema from '@peculiar/asn1-schema';
import { parseCertificates } from './certificates.ts';

/** An OCSP response about one certificate, to be stapled in handshakes. */
export interface OcspStaple {
  readonly der: Buffer;
  /** In milliseconds since 1970. Without a next update the response is never valid, as in Envoy. */
  readonly expiresAt: number;
}

/** Key of the response in a TLS secret. */
export const OCSP_STAPLE = 'tls.ocsp-staple';
/** Problem of a certificate without a response. */
export const NEEDS_STAPLE = 'MUST_STAPLE, and certificates with the extension must-staple, need an OCSP response';

/** OID of the extension TLS Feature (RFC 7633), by which a certificate demands a stapled response. */
const TLS_FEATURE = Buffer.from('06082b06010505070118', 'hex');
const BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1';

const require = createRequire(import.meta.url);

/**
 * Returns true if a certificate demands a stapled OCSP response (must-staple).
 *
 * @example
 * if (isMustStaple(new X509Certificate(pem))) policy = 'MUST_STAPLE';
 */
export function isMustStaple({ raw }: X509Certificate): boolean {
  return raw.includes(TLS_FEATURE);
}

/**
 * Reads an OCSP response. Its signature is not verified, because it comes from the configuration; clients verify it. Throws a `TypeError`
 * for an unreadable response, and for one that does not confirm exactly this certificate. An expired one is read.
 *
 * @example
 * const staple = parseOcspStaple(readFileSync('staple.der'), new X509Certificate(pem));
 * if (staple.expiresAt > Date.now()) callback(null, staple.der);
 */
export function parseOcspStaple(der: Buffer, certificate: X509Certificate): OcspStaple {
  const [single, ...others] = singleResponses(der);
  if (!single || others.length > 0) throw new TypeError('must be about exactly one certificate');
  const { certID, certStatus, nextUpdate } = single;
  const serial = BigInt(`0x${Buffer.from(certID.serialNumber).toString('hex')}`);
  if (serial !== BigInt(`0x${certificate.serialNumber}`)) throw new TypeError('is about another certificate');
  if (certStatus.revoked) throw new TypeError('says that the certificate is revoked');
  if (certStatus.good === undefined) throw new TypeError('says that the certificate is unknown');
  return { der, expiresAt: nextUpdate?.getTime() ?? 0 };
}

function singleResponses(der: Buffer): Asn1Ocsp.SingleResponse[] {
  // Loaded when first used, because few configurations have a response.
  const { BasicOCSPResponse, OCSPResponse, OCSPResponseStatus } = require('@peculiar/asn1-ocsp') as typeof Asn1Ocsp;
  const { AsnConvert } = require('@peculiar/asn1-schema') as typeof Asn1Schema;
  let responses: Asn1Ocsp.SingleResponse[] | undefined;
  try {
    const { responseStatus, responseBytes } = AsnConvert.parse(der, OCSPResponse);
    if (responseStatus === OCSPResponseStatus.successful && responseBytes?.responseType === BASIC_RESPONSE)
      ({ responses } = AsnConvert.parse(responseBytes.response, BasicOCSPResponse).tbsResponseData);
  } catch (cause) {
    throw new TypeError('does not contain a readable OCSP response in DER', { cause });
  }
  if (!responses) throw new TypeError('is not a successful OCSP response');
  return responses;
}

/** Returns why an OCSP response cannot be stapled to a certificate chain; `undefined` if it can, until it expires. */
export function stapleProblem(der: Buffer, chain: string | undefined): string | undefined {
  const leaf = chain === undefined ? undefined : parseCertificates(chain)?.[0];
  if (!leaf) return 'needs a certificate';
  try {
    parseOcspStaple(der, leaf);
    return undefined;
  } catch (error) {
    return (error as TypeError).message;
  }
}
