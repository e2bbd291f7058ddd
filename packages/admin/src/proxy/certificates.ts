import type { X509Certificate } from 'node:crypto';
import { alternativeNames, type Snapshot } from '@edge-gateway/core';
import { json } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
import { certificatesOf } from './used-certificates.ts';

const DAY_MS = 86_400_000;
const SAN_KINDS: Readonly<Record<string, string>> = {
  DNS: 'dns',
  'IP Address': 'ip_address',
  URI: 'uri',
  email: 'email',
};

/** `/certs`: the certificates in use, without any key. */
export function certs({ context, snapshot }: ProxyAdminOptions): Endpoint {
  return {
    paths: ['/certs'],
    help: 'certificates in use',
    respond: () => {
      const certificates = certificatesOf(snapshotsOf(snapshot), context.secrets).map(({ path, chain, ca }) => {
        const describe = (each: X509Certificate): object => ({ path, ...detailsOf(each, context.now()) });
        return { ca_cert: ca.map(describe), cert_chain: chain.map(describe) };
      });
      return json({ certificates });
    },
  };
}

/** Returns the whole days until the first certificate of a chain expires; `undefined` if there is none, 0 once one has expired. */
export function daysUntilFirstExpiry({ context, snapshot }: ProxyAdminOptions): number | undefined {
  const chains = certificatesOf(snapshotsOf(snapshot), context.secrets).flatMap(({ chain }) => chain);
  return chains.length > 0 ? Math.min(...chains.map((each) => daysLeft(each, context.now()))) : undefined;
}

function snapshotsOf(snapshot: ProxyAdminOptions['snapshot']): Snapshot[] {
  return [snapshot() ?? []].flat();
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
