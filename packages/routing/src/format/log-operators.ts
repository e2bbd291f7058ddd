import { alternativeNames, distinguishedName, GRPC_STATUSES } from '@edge-gateway/core';
import { hostOf } from '../http1/authority.ts';
import { writtenStatus } from './grpc-status.ts';
import { POINTS } from './points.ts';
import type { Operator, RequestRecord } from './record.ts';

const text = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

/** Operators that only access logs have; a known operator that is missing here has no value in this gateway. */
export const LOG_PLAIN: Readonly<Record<string, Operator>> = {
  CONNECTION_ID: ({ connection }) => connection.id,
  CONNECTION_TERMINATION_DETAILS: ({ result }) => text(result.termination),
  DOWNSTREAM_PEER_CERT: ({ connection }) => {
    const certificate = connection.clientCertificate;
    return certificate && encodeURIComponent(certificate.toString());
  },
  DOWNSTREAM_PEER_ISSUER: ({ connection }) => text(distinguishedName(connection.clientCertificate?.issuer)),
  DOWNSTREAM_PEER_SUBJECT: ({ connection }) => text(distinguishedName(connection.clientCertificate?.subject)),
  DOWNSTREAM_PEER_URI_SAN: ({ connection }) => {
    const names = alternativeNames(connection.clientCertificate?.subjectAltName);
    return text(names.flatMap(({ kind, name }) => (kind === 'URI' ? [name] : [])).join(','));
  },
  DOWNSTREAM_TLS_CIPHER: ({ connection }) => text(connection.tlsCipher),
  GRPC_STATUS: (record) => grpcStatus(record, 'CAMEL_STRING'),
  GRPC_STATUS_NUMBER: (record) => grpcStatus(record, 'NUMBER'),
  LOCAL_REPLY_BODY: ({ result }) => text(String(result.localBody)),
  REQUEST_DURATION: ({ result }) => (result.receivedMs < 0 ? undefined : Math.round(result.receivedMs)),
  SPAN_ID: ({ trace }) => trace?.spanId,
  TRACE_ID: ({ trace }) => trace?.traceId,
  UPSTREAM_LOCAL_ADDRESS: ({ result: { upstreamLocal } }) => upstreamLocal && text(hostOf(upstreamLocal)),
};

/** Those that take an argument. */
export const LOG_WITH_ARGUMENT: Readonly<Record<string, (argument: string) => Operator>> = {
  COMMON_DURATION: commonDuration,
  GRPC_STATUS: (form) => (record) => grpcStatus(record, form),
};

function grpcStatus({ result }: RequestRecord, form: string): string | number | undefined {
  const status = writtenStatus(result);
  if (status === undefined || form === 'NUMBER') return status;
  const name = GRPC_STATUSES[status];
  if (name === undefined) return String(status);
  return form === 'SNAKE_STRING' ? name : camelCase(name);
}

const camelCase = (name: string): string =>
  name === 'OK'
    ? name
    : name.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

const PER_MS: Readonly<Record<string, number>> = { ms: 1, us: 1_000, ns: 1_000_000 };

/** `from:to:unit`, e.g. `DS_RX_BEG:US_TX_BEG:us`. */
function commonDuration(argument: string): Operator {
  const [from = '', to = '', unit = 'ms'] = argument.split(':');
  const begin = POINTS[from];
  const end = POINTS[to];
  const factor = PER_MS[unit];
  if (!begin || !end || factor === undefined) return () => undefined;
  return (record) => {
    const [first, last] = [begin(record), end(record)];
    return first < 0 || last < first ? undefined : Math.round((last - first) * factor);
  };
}
