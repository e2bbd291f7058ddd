import { json } from '../http/answer.ts';
import type { X509Certificate } from 'node:crypto';
import { alternativeNames } from '@edge-gateway/core';
import { certificatesOf } from './certificates.ts';
import type { EndpointFactory } from './endpoint.ts';

const DAY_MS = 86_400_000;
const SAN_KINDS: Readonly<Record<string, string>> = {
  DNS: 'dns',
  'IP Address': 'ip_address',
  URI: 'uri',
  email: 'email',
};

/** `/certs`: the certificates in use, without any key. */
export const certs: EndpointFactory = ({ context, snapshot }) => ({
  paths: ['/certs'],
  help: 'certificates in use',
  answer: () => {
    const certificates = certificatesOf(snapshot(), context.secrets).map(({ path, chain, ca }) => {
      const describe = (certificate: X509Certificate): object => ({
        path,
        ...detailsOf(certificate, context.now()),
      });
      return { ca_cert: ca.map(describe), cert_chain: chain.map(describe) };
    });
    return json({ certificates });
  },
});

function detailsOf(certificate: X509Certificate, now: number): object {
  const { validFromDate, validToDate } = certificate;
  const days = Math.max(0, Math.floor((validToDate.getTime() - now) / DAY_MS));
  return {
    serial_number: certificate.serialNumber.toLowerCase(),
    subject_alt_names: namesOf(certificate),
    days_until_expiration: String(days),
    valid_from: validFromDate.toISOString(),
    expiration_time: validToDate.toISOString(),
  };
}

function namesOf({ subjectAltName }: X509Certificate): object[] {
  return alternativeNames(subjectAltName).flatMap(({ kind, name }) => {
    const key = SAN_KINDS[kind];
    return key ? [{ [key]: name }] : [];
  });
}
