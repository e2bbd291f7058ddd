import { hostname } from 'node:os';
import { hostOf } from '../http1/authority.ts';
import { findHeader } from '../http1/flat-headers.ts';
import type { Operator, RequestRecord } from './record.ts';
import {
  fromByteString,
  LOG_OPERATORS,
  REDACTED_IN_LOG,
  RESPONSE_ARGUMENT_OPERATORS,
  RESPONSE_OPERATORS,
  isSecretHeader,
  isToken,
  redactPath,
  toByteString,
  type ARGUMENT_OPERATORS,
  type PLAIN_OPERATORS,
} from '@edge-gateway/core';
import { LOG_PLAIN, LOG_WITH_ARGUMENT } from './log-operators.ts';
import { respondedMs } from './points.ts';
import { formatTime } from './time.ts';

const HOSTNAME = hostname();
const text = (value: string): string | undefined => (value === '' ? undefined : value);
const rounded = (milliseconds: number): number | undefined => (milliseconds < 0 ? undefined : Math.round(milliseconds));
const address = (host: string, port: number): string => hostOf({ address: host, port });

/** What resources are validated against: an operator without a value here does not compile. */
type PlainOperator = Exclude<(typeof PLAIN_OPERATORS)[number], 'START_TIME'> | (typeof RESPONSE_OPERATORS)[number];
type ArgumentOperator = (typeof ARGUMENT_OPERATORS)[number] | (typeof RESPONSE_ARGUMENT_OPERATORS)[number];

const PLAIN: Readonly<Record<PlainOperator, Operator>> = {
  PROTOCOL: (r) => text(r.connection.protocol),
  RESPONSE_CODE: (r) => r.result.status,
  RESPONSE_CODE_DETAILS: (r) => text(r.result.details),
  RESPONSE_FLAGS: (r) => text(r.result.flags),
  RESPONSE_FLAGS_LONG: (r) => text(longFlags(r.result.flags)),
  BYTES_RECEIVED: (r) => r.result.bytesReceived,
  BYTES_SENT: (r) => r.result.bytesSent,
  DURATION: (r) => Math.round(r.result.durationMs),
  RESPONSE_DURATION: (r) => rounded(respondedMs(r)),
  RESPONSE_TX_DURATION: (r) => (respondedMs(r) < 0 ? undefined : rounded(r.result.durationMs - respondedMs(r))),
  UPSTREAM_HOST: (r) => text(r.result.upstreamHost),
  UPSTREAM_REQUEST_ATTEMPT_COUNT: (r) => r.result.attempts,
  UPSTREAM_TRANSPORT_FAILURE_REASON: (r) => text(r.result.transportFailure),
  UPSTREAM_CLUSTER: (r) => text(r.route.upstream),
  ROUTE_NAME: (r) => text(r.route.routeName),
  VIRTUAL_CLUSTER_NAME: (r) => text(r.route.virtualClusterOf?.(r.head) ?? ''),
  VIRTUAL_HOST_NAME: (r) => text(r.route.virtualHost),
  HOSTNAME: () => HOSTNAME,
  DOWNSTREAM_REMOTE_ADDRESS: (r) =>
    address(r.head.clientAddress, r.head.clientAddress === r.connection.directAddress ? r.connection.directPort : 0),
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: (r) => text(r.head.clientAddress),
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS: (r) => address(r.connection.peerAddress, r.connection.peerPort),
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: (r) => text(r.connection.peerAddress),
  DOWNSTREAM_LOCAL_ADDRESS: (r) => address(r.connection.localAddress, r.connection.localPort),
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: (r) => text(r.connection.localAddress),
  DOWNSTREAM_LOCAL_PORT: (r) => r.connection.localPort,
  REQUESTED_SERVER_NAME: (r) => text(r.connection.serverName),
  DOWNSTREAM_TLS_VERSION: (r) => text(r.connection.tlsVersion),
  STREAM_ID: (r) => text(r.head.requestId),
};

/** Operators that take an argument in brackets. */
const WITH_ARGUMENT: Readonly<Record<ArgumentOperator, (argument: string) => Operator>> = {
  REQ: (argument) => headerOperator(argument, requestHeader),
  RESP: (argument) => headerOperator(argument, (record, name) => findHeader(record.result.responseHeaders, name)),
  START_TIME: (argument) => (record) => formatTime(record.startedAt, argument),
  DYNAMIC_METADATA: (argument) => metadataOperator(argument, dynamicMetadata),
  METADATA: typedMetadata,
};

const KNOWN_IN_LOG: ReadonlySet<string> = new Set(LOG_OPERATORS);
const NOTHING: Operator = () => undefined;

/** Operators of a response, which a request that is on its way up does not have yet. */
const RESPONSE_ONLY: ReadonlySet<string> = new Set([...RESPONSE_OPERATORS, ...RESPONSE_ARGUMENT_OPERATORS]);

export const OPERATOR_NAMES: readonly string[] = [...Object.keys(PLAIN), ...Object.keys(WITH_ARGUMENT)].sort();

/** Where a format is used: a request has no response yet, and a log shows no secret. */
export type FormatUse = 'request' | 'response' | 'log';

/** Where a format is used, and the variables that it may read. */
export interface FormatContext {
  readonly use: FormatUse;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Returns an operator of logs, which has no value if this gateway does not know it. */
function logOperator(name: string, argument: string | undefined, env: FormatContext['env'] = {}): Operator {
  if (name === 'ENVIRONMENT') {
    const value = argument !== undefined && Object.hasOwn(env, argument) ? env[argument] : undefined;
    return () => value;
  }
  if (argument === undefined) return LOG_PLAIN[name] ?? NOTHING;
  if (name === 'TRAILER') return redacted(inText(headerOperator(argument, responseTrailer)), argument);
  return LOG_WITH_ARGUMENT[name]?.(argument) ?? LOG_PLAIN[name] ?? NOTHING;
}

/** Headers whose query may carry tokens. */
const ADDRESSES: ReadonlySet<string> = new Set([':path', 'x-envoy-original-path', 'referer', 'location']);

/** Returns an operator by name; `undefined` for one that does not exist, or that a request head cannot have. */
export function operatorOf(
  name: string,
  argument: string | undefined,
  { use, env }: FormatContext,
): Operator | undefined {
  if (use === 'request' && RESPONSE_ONLY.has(name)) return undefined;
  if (name === 'START_TIME') return WITH_ARGUMENT.START_TIME(argument ?? '');
  if (use === 'log' && KNOWN_IN_LOG.has(name)) return logOperator(name, argument, env);
  const table = argument === undefined ? PLAIN : WITH_ARGUMENT;
  if (!Object.hasOwn(table, name)) return undefined;
  const operator =
    argument === undefined ? PLAIN[name as PlainOperator] : WITH_ARGUMENT[name as ArgumentOperator](argument);
  if (use !== 'log') return IN_BYTES.has(name) ? operator : inBytes(operator);
  const shown = IN_BYTES.has(name) ? inText(operator) : operator;
  return argument === undefined ? shown : redacted(shown, argument);
}

/** Operators whose values come from heads, as byte strings; the values of all others are text. */
const IN_BYTES: ReadonlySet<string> = new Set(['REQ', 'RESP', 'STREAM_ID']);

function inBytes(operator: Operator): Operator {
  return (record) => {
    const value = operator(record);
    return typeof value === 'string' ? toByteString(value) : value;
  };
}

function inText(operator: Operator): Operator {
  return (record) => {
    const value = operator(record);
    return typeof value === 'string' ? fromByteString(value) : value;
  };
}

function redacted(operator: Operator, argument: string): Operator {
  const names = argument.toLowerCase().split('?');
  if (names.some(isSecretHeader)) return (record) => (operator(record) === undefined ? undefined : REDACTED_IN_LOG);
  const isAddress = names.some((name) => ADDRESSES.has(name));
  return (record) => {
    const value = operator(record);
    if (typeof value !== 'string') return value;
    const shown = isAddress ? redactPath(value) : value;
    return isToken(shown) ? REDACTED_IN_LOG : shown;
  };
}

/** `A?B`: header A, else header B. */
function headerOperator(argument: string, find: (record: RequestRecord, name: string) => string | undefined): Operator {
  const [first = '', second = ''] = argument.toLowerCase().split('?');
  if (second === '') return (record) => find(record, first);
  return (record) => find(record, first) ?? find(record, second);
}

function requestHeader(record: RequestRecord, name: string): string | undefined {
  switch (name) {
    case ':method':
      return text(record.head.method);
    case ':path':
      return text(record.head.path);
    case ':authority':
    case 'host':
      return text(record.head.authority);
    case 'x-envoy-original-path':
      return record.head.originalPath === record.head.path ? undefined : record.head.originalPath;
    default:
      return findHeader(record.head.headers, name);
  }
}

const responseTrailer = ({ result }: RequestRecord, name: string): string | undefined =>
  findHeader(result.responseTrailers, name);

type FindMetadata = (record: RequestRecord, namespace: string) => unknown;

const dynamicMetadata: FindMetadata = ({ metadata }, namespace) => metadata.get(namespace);

const metadataOfRoute: FindMetadata = ({ route: { routeMetadata: metadata } }, namespace) =>
  metadata && Object.hasOwn(metadata, namespace) ? metadata[namespace] : undefined;

/** `ROUTE:namespace:key:…` is the metadata of the route, `DYNAMIC:…` the same as `DYNAMIC_METADATA`; others have no value. */
function typedMetadata(argument: string): Operator {
  const [type = ''] = argument.split(':', 1);
  const rest = argument.slice(type.length + 1);
  if (type === 'ROUTE') return metadataOperator(rest, metadataOfRoute);
  return type === 'DYNAMIC' ? metadataOperator(rest, dynamicMetadata) : NOTHING;
}

/** `namespace:key:…`; objects are rendered as JSON. */
function metadataOperator(argument: string, find: FindMetadata): Operator {
  const [namespace = '', ...keys] = argument.split(':');
  return (record) => {
    let value: unknown = find(record, namespace);
    for (const key of keys) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
  };
}

/** Response flags in full. */
const LONG: Readonly<Record<string, string>> = {
  DC: 'DownstreamConnectionTermination',
  DI: 'DelayInjected',
  DPE: 'DownstreamProtocolError',
  DT: 'DurationTimeout',
  FI: 'FaultInjected',
  IH: 'InvalidEnvoyRequestHeaders',
  LH: 'FailedLocalHealthCheck',
  LR: 'LocalReset',
  NC: 'NoClusterFound',
  NFCF: 'NoFilterConfigFound',
  NR: 'NoRouteFound',
  OM: 'OverloadManagerTerminated',
  RFCF: 'ResponseFromCacheFilter',
  RL: 'RateLimited',
  RLSE: 'RateLimitServiceError',
  SI: 'StreamIdleTimeout',
  UAEX: 'UnauthorizedExternalService',
  UC: 'UpstreamConnectionTermination',
  UF: 'UpstreamConnectionFailure',
  UH: 'NoHealthyUpstream',
  UMSDR: 'UpstreamMaxStreamDurationReached',
  UO: 'UpstreamOverflow',
  UPE: 'UpstreamProtocolError',
  UR: 'UpstreamRemoteReset',
  URX: 'UpstreamRetryLimitExceeded',
  UT: 'UpstreamRequestTimeout',
};

/** Flags with commas between them, each in full. */
function longFlags(flags: string): string {
  return flags
    .split(',')
    .map((flag) => LONG[flag] ?? flag)
    .join(',');
}
