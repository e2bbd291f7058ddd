import { X509Certificate } from 'node:crypto';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const ALTERNATIVE_NAME = /(?:^|, )([^:,"]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g;

/** Returns the certificates in a PEM text as PEM, without keys and other text that may be beside them. */
export function certificateBlocks(pem: string): string[] {
  return pem.match(BLOCK) ?? [];
}

/** Returns every certificate in a PEM text; `undefined` if there is none, or one of them cannot be parsed. */
export function parseCertificates(pem: string): X509Certificate[] | undefined {
  const blocks = certificateBlocks(pem);
  if (blocks.length === 0) return undefined;
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** One subject alternative name of a certificate. `kind` is as Node writes it: `DNS`, `IP Address`, `URI`, `email`. */
export interface AlternativeName {
  readonly kind: string;
  readonly name: string;
}

/** Reads the subject alternative names in the text form of Node, in which unusual names are quoted as JSON. */
export function alternativeNames(text = ''): AlternativeName[] {
  return [...text.matchAll(ALTERNATIVE_NAME)].map(([, kind, quoted, plain]) => {
    return { kind: kind!, name: quoted === undefined ? plain! : (JSON.parse(quoted) as string) };
  });
}

/** Returns a subject or issuer, in the text form of Node, in the form of RFC 2253: the most specific part first. Empty for none. */
export function distinguishedName(lines = ''): string {
  return lines.split('\n').toReversed().join(',');
}

/** Returns the name that identifies the holder of a certificate: its first URI, else its first DNS name, else its subject. */
export function principalOf({ subject, subjectAltName }: X509Certificate): string {
  const names = alternativeNames(subjectAltName);
  const first = (kind: string) => names.find((each) => each.kind === kind)?.name;
  return first('URI') ?? first('DNS') ?? distinguishedName(subject);
}
