import {
  alternativeNames,
  distinguishedName,
  fromByteString,
  isSecretHeader,
  isToken,
  redact,
  REDACTED_IN_LOG,
  redactPath,
} from '@edge-gateway/core';
import { POINTS } from '../../format/points.ts';
import type { RequestRecord } from '../../format/record.ts';
import { findHeader } from '../../http1/flat-headers.ts';
import { FLAG_FIELDS } from './als-messages.ts';

/** Additional headers of an entry, names in lower case. */
export interface EntryHeaders {
  readonly request: readonly string[];
  readonly response: readonly string[];
  readonly trailers: readonly string[];
}

interface CommonProperties {
  readonly [field: string]: unknown;
  readonly metadata?: { readonly filter_metadata: Readonly<Record<string, object>> };
}

/** An entry whose metadata is not in the form of the protocol yet. */
export interface LogEntry {
  readonly [field: string]: unknown;
  readonly common_properties: CommonProperties;
}

/** Converts the metadata of an entry to `google.protobuf.Struct`. */
export function withStructs(entry: LogEntry, toStruct: (value: object) => object): object {
  const { metadata } = entry.common_properties;
  if (!metadata) return entry;
  const structs = Object.entries(metadata.filter_metadata).map(([name, value]) => [name, toStruct(value)]);
  const common = { ...entry.common_properties, metadata: { filter_metadata: Object.fromEntries(structs) } };
  return { ...entry, common_properties: common };
}

const METHODS = ['', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];
const PROTOCOLS: Readonly<Record<string, number>> = { 'HTTP/1.0': 1, 'HTTP/1.1': 2, 'HTTP/2': 3 };
const TLS: Readonly<Record<string, number>> = { TLSv1: 1, 'TLSv1.1': 2, 'TLSv1.2': 3, 'TLSv1.3': 4 };
const EXTERNAL_SERVICE = 1;

/** Returns the `HTTPAccessLogEntry` of a request. */
export function httpEntry(record: RequestRecord, headers: EntryHeaders): LogEntry {
  const { head, connection, result } = record;
  const header = (name: string): string => shown(name, findHeader(head.headers, name) ?? '');
  return {
    common_properties: commonOf(record),
    protocol_version: PROTOCOLS[connection.protocol] ?? 0,
    request: {
      request_method: Math.max(METHODS.indexOf(head.method), 0),
      scheme: connection.tls ? 'https' : 'http',
      authority: head.authority,
      path: redactPath(fromByteString(head.path)),
      user_agent: header('user-agent'),
      referer: header('referer'),
      forwarded_for: header('x-forwarded-for'),
      request_id: fromByteString(head.requestId),
      original_path: head.originalPath === head.path ? '' : redactPath(fromByteString(head.originalPath)),
      request_body_bytes: result.bytesReceived,
      request_headers: chosen(head.headers, headers.request),
    },
    response: {
      ...(result.status > 0 && { response_code: { value: result.status } }),
      response_body_bytes: result.bytesSent,
      response_headers: chosen(result.responseHeaders, headers.response),
      response_trailers: chosen(result.responseTrailers, headers.trailers),
      response_code_details: result.details,
    },
  };
}

/** Returns the `TCPAccessLogEntry` of a connection. */
export function connectionEntry(record: RequestRecord): LogEntry {
  const { bytesReceived, bytesSent } = record.result;
  return {
    common_properties: commonOf(record),
    connection_properties: { received_bytes: bytesReceived, sent_bytes: bytesSent },
  };
}

function commonOf(record: RequestRecord): CommonProperties {
  const { head, connection, route, result, metadata, startedAt } = record;
  const port = head.clientAddress === connection.directAddress ? connection.directPort : 0;
  return {
    downstream_remote_address: addressOf(head.clientAddress, port),
    downstream_local_address: addressOf(connection.localAddress, connection.localPort),
    downstream_direct_remote_address: addressOf(connection.peerAddress, connection.peerPort),
    ...(connection.tls && { tls_properties: tlsOf(connection) }),
    start_time: spanOf(startedAt),
    duration: spanOf(result.durationMs),
    ...timesOf(record),
    ...(result.upstreamHost !== '' && { upstream_remote_address: parsedAddress(result.upstreamHost) }),
    ...(result.upstreamLocal && {
      upstream_local_address: addressOf(result.upstreamLocal.address, result.upstreamLocal.port),
    }),
    upstream_cluster: route.upstream,
    response_flags: flagsOf(result.flags),
    ...(metadata.size > 0 && { metadata: { filter_metadata: redact(Object.fromEntries(metadata)) } }),
    upstream_transport_failure_reason: result.transportFailure,
    route_name: route.routeName,
    upstream_request_attempt_count: result.attempts,
    connection_termination_details: result.termination,
    stream_id: fromByteString(head.requestId),
  };
}

/** By the points in time of Envoy's entries; those that are unknown are omitted. */
const TIMES: Readonly<Record<string, string>> = {
  time_to_last_rx_byte: 'DS_RX_END',
  time_to_first_upstream_tx_byte: 'US_TX_BEG',
  time_to_first_upstream_rx_byte: 'US_RX_BEG',
  time_to_first_downstream_tx_byte: 'DS_TX_BEG',
  time_to_last_downstream_tx_byte: 'DS_TX_END',
};

function timesOf(record: RequestRecord): Record<string, object> {
  const times: Record<string, object> = {};
  for (const [field, point] of Object.entries(TIMES)) {
    const milliseconds = POINTS[point]!(record);
    if (milliseconds >= 0) times[field] = spanOf(milliseconds);
  }
  return times;
}

function tlsOf({ tlsVersion, serverName, clientCertificate }: RequestRecord['connection']): object {
  const names = alternativeNames(clientCertificate?.subjectAltName);
  return {
    tls_version: TLS[tlsVersion] ?? 0,
    tls_sni_hostname: serverName,
    ...(clientCertificate && {
      peer_certificate_properties: {
        subject: distinguishedName(clientCertificate.subject),
        subject_alt_name: names
          .filter(({ kind }) => kind === 'URI' || kind === 'DNS')
          .map(({ kind, name }) => (kind === 'URI' ? { uri: name } : { dns: name })),
      },
    }),
  };
}

const addressOf = (address: string, port: number): object => ({ socket_address: { address, port_value: port } });

function parsedAddress(host: string): object {
  const cut = host.lastIndexOf(':');
  return addressOf(host.slice(0, cut).replaceAll(/[[\]]/g, ''), Number(host.slice(cut + 1)) || 0);
}

/** Milliseconds as seconds and nanoseconds. */
function spanOf(milliseconds: number): object {
  const seconds = Math.floor(milliseconds / 1_000);
  return { seconds, nanos: Math.round((milliseconds - seconds * 1_000) * 1_000_000) };
}

function flagsOf(flags: string): object {
  const fields: Record<string, unknown> = {};
  for (const flag of flags === '' ? [] : flags.split(',')) {
    const [name] = FLAG_FIELDS[flag] ?? [];
    if (name !== undefined) fields[name] = true;
    else if (flag === 'UAEX') fields['unauthorized_details'] = { reason: EXTERNAL_SERVICE };
  }
  return fields;
}

function chosen(flat: readonly string[], names: readonly string[]): Record<string, string> {
  const found = Object.create(null) as Record<string, string>;
  for (const name of names) {
    const value = findHeader(flat, name);
    if (value !== undefined) found[name] = shown(name, value);
  }
  return found;
}

function shown(name: string, value: string): string {
  if (value !== '' && isSecretHeader(name)) return REDACTED_IN_LOG;
  const path = redactPath(fromByteString(value));
  return isToken(path) ? REDACTED_IN_LOG : path;
}
