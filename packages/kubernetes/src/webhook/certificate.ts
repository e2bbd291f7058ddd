import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { der, generalName, objectIdentifier, TAG, time } from './der.ts';

/** A server certificate of an authority that signed nothing else: its key is not kept. */
export interface IssuedCertificate {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
  /** PEM of the authority. */
  readonly root: string;
}

/** The times between which a certificate is valid. */
export interface Validity {
  readonly from: Date;
  readonly to: Date;
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;
const ALGORITHM = der(TAG.sequence, objectIdentifier(OID.ecdsaWithSha256));
const TRUE = der(TAG.boolean, Buffer.from([0xff]));
/** Bits 5 (keyCertSign) and 0 (digitalSignature), with the number of unused bits before them. */
const SIGNS_CERTIFICATES = der(TAG.bitString, Buffer.from([0x02, 0x04]));
const SIGNS_HANDSHAKES = der(TAG.bitString, Buffer.from([0x07, 0x80]));

/**
 * Makes an authority and a server certificate for DNS names and IP addresses, with keys on the curve P-256.
 *
 * @example
 * issueCertificate(['gw.gw-system.svc'], { from: new Date(), to: new Date(Date.now() + 86_400_000) });
 */
export function issueCertificate(names: readonly string[], validity: Validity): IssuedCertificate {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // Roots with the same name would be hard to tell apart.
  const issuer = commonName(`edge-gateway validation ${randomBytes(8).toString('hex')}`);
  const signer = { name: issuer, key: authority.privateKey, keyId: keyIdOf(authority.publicKey), validity };
  const root = certificate(signer, { subject: issuer, publicKey: authority.publicKey }, [
    extension(OID.basicConstraints, der(TAG.sequence, TRUE, der(TAG.integer, Buffer.from([0]))), true),
    extension(OID.keyUsage, SIGNS_CERTIFICATES, true),
    extension(OID.subjectKeyIdentifier, der(TAG.octetString, signer.keyId)),
  ]);
  const leaf = certificate(signer, { subject: commonName('validation webhook'), publicKey: server.publicKey }, [
    extension(OID.basicConstraints, der(TAG.sequence), true),
    extension(OID.keyUsage, SIGNS_HANDSHAKES, true),
    extension(OID.extKeyUsage, der(TAG.sequence, objectIdentifier(OID.serverAuth))),
    extension(OID.authorityKeyIdentifier, der(TAG.sequence, der(0x80, signer.keyId))),
    extension(OID.subjectAltName, der(TAG.sequence, ...names.map(generalName))),
  ]);
  return {
    certificate: pem(leaf),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    root: pem(root),
  };
}

interface Signer {
  readonly name: Buffer;
  readonly key: KeyObject;
  readonly keyId: Buffer;
  readonly validity: Validity;
}

interface Holder {
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
}

/** A certificate of version 3 (RFC 5280 §4.1). */
function certificate(signer: Signer, { subject, publicKey }: Holder, extensions: readonly Buffer[]): Buffer {
  const { name, key, validity } = signer;
  const content = der(
    TAG.sequence,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serialNumber()),
    ALGORITHM,
    name,
    der(TAG.sequence, time(validity.from), time(validity.to)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }) as Buffer,
    der(0xa3, der(TAG.sequence, ...extensions)),
  );
  const signature = sign('sha256', content, key);
  return der(TAG.sequence, content, ALGORITHM, der(TAG.bitString, Buffer.from([0]), signature));
}

/** Positive, in its shortest form. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  return serial;
}

function commonName(text: string): Buffer {
  const value = der(TAG.utf8, Buffer.from(text));
  return der(TAG.sequence, der(TAG.set, der(TAG.sequence, objectIdentifier(OID.commonName), value)));
}

function extension(id: string, value: Buffer, ...[isCritical]: readonly [true?]): Buffer {
  return der(TAG.sequence, objectIdentifier(id), ...(isCritical ? [TRUE] : []), der(TAG.octetString, value));
}

function keyIdOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }) as Buffer)
    .digest();
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
