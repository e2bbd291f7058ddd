import { nearest } from './did-you-mean.ts';
import { formatOperatorAt } from './format-operator.ts';

/** Operators without an argument in the value of an added header. */
export const PLAIN_OPERATORS = [
  'DOWNSTREAM_DIRECT_REMOTE_ADDRESS',
  'DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_LOCAL_ADDRESS',
  'DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_LOCAL_PORT',
  'DOWNSTREAM_REMOTE_ADDRESS',
  'DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_TLS_VERSION',
  'HOSTNAME',
  'PROTOCOL',
  'REQUESTED_SERVER_NAME',
  'ROUTE_NAME',
  'START_TIME',
  'STREAM_ID',
  'UPSTREAM_CLUSTER',
  'UPSTREAM_HOST',
  'VIRTUAL_CLUSTER_NAME',
  'VIRTUAL_HOST_NAME',
] as const;

/** Operators with an argument in parentheses. */
export const ARGUMENT_OPERATORS = ['DYNAMIC_METADATA', 'METADATA', 'REQ', 'START_TIME'] as const;

/** Additional operators of response headers, without and with an argument. */
export const RESPONSE_OPERATORS = [
  'BYTES_RECEIVED',
  'BYTES_SENT',
  'DURATION',
  'RESPONSE_CODE',
  'RESPONSE_CODE_DETAILS',
  'RESPONSE_DURATION',
  'RESPONSE_FLAGS',
  'RESPONSE_FLAGS_LONG',
  'RESPONSE_TX_DURATION',
  'UPSTREAM_REQUEST_ATTEMPT_COUNT',
  'UPSTREAM_TRANSPORT_FAILURE_REASON',
] as const;
/** Those of them that take an argument in brackets. */
export const RESPONSE_ARGUMENT_OPERATORS = ['RESP'] as const;

/** Additional operators of access logs, without or with an argument; some have no value here. */
export const LOG_OPERATORS = [
  'CLUSTER_METADATA',
  'COMMON_DURATION',
  'CONNECTION_ID',
  'CONNECTION_TERMINATION_DETAILS',
  'DOWNSTREAM_PEER_ISSUER',
  'DOWNSTREAM_PEER_CERT',
  'DOWNSTREAM_PEER_SUBJECT',
  'DOWNSTREAM_PEER_URI_SAN',
  'DOWNSTREAM_TLS_CIPHER',
  'ENVIRONMENT',
  'FILTER_STATE',
  'GRPC_STATUS',
  'GRPC_STATUS_NUMBER',
  'LOCAL_REPLY_BODY',
  'REQUEST_DURATION',
  'SPAN_ID',
  'TRACE_ID',
  'TRAILER',
  'UPSTREAM_LOCAL_ADDRESS',
] as const;

/** Where a format is used. */
export type FormatUse = 'request header' | 'response header' | 'access log';

const PLAIN: ReadonlySet<string> = new Set(PLAIN_OPERATORS);
const WITH_ARGUMENT: ReadonlySet<string> = new Set(ARGUMENT_OPERATORS);
const RESPONSE: ReadonlySet<string> = new Set(RESPONSE_OPERATORS);
const ARGUMENTS: ReadonlySet<string> = new Set([...ARGUMENT_OPERATORS, ...RESPONSE_ARGUMENT_OPERATORS]);
const LOG: ReadonlySet<string> = new Set(LOG_OPERATORS);
const RESPONSE_WITH_ARGUMENT: ReadonlySet<string> = new Set(RESPONSE_ARGUMENT_OPERATORS);

interface FormatProblem {
  readonly message: string;
  readonly hint?: string;
}

/** Returns the problem of a format: an unknown operator, or a single percent sign. */
export function formatProblem(value: string, use: FormatUse): FormatProblem | undefined {
  for (let at = value.indexOf('%'); at >= 0; at = value.indexOf('%', at)) {
    if (value[at + 1] === '%') {
      at += 2;
      continue;
    }
    const operator = formatOperatorAt(value, at);
    if (!operator) return { message: `'${value.slice(at, at + 20)}' is not an operator; write %% for a percent sign` };
    const { written, name, argument } = operator;
    if (!isKnown(name, argument !== undefined, use)) return unknown(written, name, use);
    at += written.length;
  }
  return undefined;
}

function unknown(written: string, name: string, use: FormatUse): FormatProblem {
  const message = `${written} is not an operator of ${use === 'access log' ? 'an' : 'a'} ${use}`;
  if (ARGUMENTS.has(name)) return { message, hint: `%${name}(…)%` };
  const near = nearest(name, [...PLAIN, ...(use === 'request header' ? [] : RESPONSE)]);
  return near === undefined || near === name ? { message } : { message, hint: `did you mean %${near}%?` };
}

function isKnown(name: string, hasArgument: boolean, use: FormatUse): boolean {
  if ((hasArgument ? WITH_ARGUMENT : PLAIN).has(name)) return true;
  if (use === 'request header') return false;
  return (hasArgument ? RESPONSE_WITH_ARGUMENT : RESPONSE).has(name) || (use === 'access log' && LOG.has(name));
}
