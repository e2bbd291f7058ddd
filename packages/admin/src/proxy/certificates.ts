import type { X509Certificate } from 'node:crypto';
import { alternativeNames } from '@edge-gateway/core';
import { json } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
import { certificatesOf, type UsedCertificates } from './used-certificates.ts';

const DAY_MS = 86_400_000;
const SAN_KINDS: Readonly<Record<string, string>> = {
  DNS: 'dns',
  'IP Address': 'ip_address',
  URI: 'uri',
  email: 'email',
};

/** `/certs`: the certificates in use, without any key. */
export function certs(options: ProxyAdminOptions): Endpoint {
  return {
    paths: ['/certs'],
    help: 'certificates in use',
    respond: () => {
      const now = options.context.now();
      const certificates = usedIn(options).map(({ path, chain, ca }) => {
        const describe = (each: X509Certificate): object => ({ path, ...detailsOf(each, now) });
        return { ca_cert: ca.map(describe), cert_chain: chain.map(describe) };
      });
      return json({ certificates });
    },
  };
}

/** Returns the whole days until the first certificate of a chain expires; `undefined` if there is none, 0 once one has expired. */
export function daysUntilFirstExpiry(options: ProxyAdminOptions): number | undefined {
  const chains = usedIn(options).flatMap(({ chain }) => chain);
  return chains.length > 0 ? Math.min(...chains.map((each) => daysLeft(each, options.context.now()))) : undefined;
}

/** Returns the certificates of the snapshot, and of the flags of the process. */
function usedIn({ context, snapshot, certificates }: ProxyAdminOptions): readonly UsedCertificates[] {
  return [...certificatesOf([snapshot() ?? []].flat(), context.secrets), ...(certificates?.() ?? [])];
}

function daysLeft({ validToDate }: X509Certificate, now: number): number {
  return Math.max(0, Math.floor((validToDate.getTime() - now) / DAY_MS));
}

function detailsOf(certificate: X509Certificate, now: number): object {
  return {
    serial_number: certificate.serialNumber.toLowerCase(),
    subject_alt_names: namesOf(certificate),
    days_until_expiration: String(daysLeft(certificate, now)),
    valid_from: certificate.validFromDate.toISOString(),
    expiration_time: certificate.validToDate.toISOString(),
  };
}

function namesOf({ subjectAltName }: X509Certificate): object[] {
  return alternativeNames(subjectAltName).flatMap(({ kind, name }) => {
    const key = SAN_KINDS[kind];
    return key ? [{ [key]: name }] : [];
  });
}
