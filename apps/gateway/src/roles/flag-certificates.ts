import { certificateProblems, type UsedCertificates } from '@edge-gateway/admin';
import { formatIssue, parseCertificates, type Logger } from '@edge-gateway/core';

/** The content of the files of TLS flags. */
interface TlsContent {
  readonly certificate?: string | undefined;
  /** Roots that verify peers. */
  readonly ca?: string | undefined;
}

/** A flag with its file. */
type FlagFile = readonly [flag: string, file: string | undefined];

/** Returns the certificates of TLS flags as admin pages list them: `certificate` has one source, `ca` another. */
export function flagCertificates(
  { certificate, ca }: TlsContent,
  flags: { readonly certificate: FlagFile; readonly ca: FlagFile },
): UsedCertificates[] {
  const chain = parseCertificates(certificate ?? '') ?? [];
  const roots = parseCertificates(ca ?? '') ?? [];
  const used = [
    { path: flags.certificate.join(' '), chain, ca: [], users: USERS },
    { path: flags.ca.join(' '), chain: [], ca: roots, users: USERS },
  ];
  return used.filter((each) => each.chain.length + each.ca.length > 0);
}

const USERS: UsedCertificates['users'] = [{ kind: 'process', name: 'this process', serverNames: [] }];

/** Logs a warning for each certificate that peers reject because of its dates, now or soon. Milliseconds since the epoch. */
export function warnOfCertificates(certificates: readonly UsedCertificates[], log: Logger, now = Date.now()): void {
  for (const problem of certificateProblems(certificates, now)) log.warn({}, formatIssue(problem));
}
