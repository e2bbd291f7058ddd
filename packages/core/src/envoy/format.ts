import { formatOperatorAt, type FormatOperator } from '../syntax/format-operator.ts';

/** Operators without an argument that Envoy has, too. */
const PLAIN: ReadonlySet<string> = new Set([
  'BYTES_RECEIVED',
  'BYTES_SENT',
  'CONNECTION_ID',
  'CONNECTION_TERMINATION_DETAILS',
  'DOWNSTREAM_DIRECT_REMOTE_ADDRESS',
  'DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_LOCAL_ADDRESS',
  'DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_LOCAL_PORT',
  'DOWNSTREAM_PEER_CERT',
  'DOWNSTREAM_PEER_ISSUER',
  'DOWNSTREAM_PEER_SUBJECT',
  'DOWNSTREAM_PEER_URI_SAN',
  'DOWNSTREAM_REMOTE_ADDRESS',
  'DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT',
  'DOWNSTREAM_TLS_CIPHER',
  'DOWNSTREAM_TLS_VERSION',
  'DURATION',
  'GRPC_STATUS',
  'GRPC_STATUS_NUMBER',
  'HOSTNAME',
  'LOCAL_REPLY_BODY',
  'PROTOCOL',
  'REQUESTED_SERVER_NAME',
  'REQUEST_DURATION',
  'RESPONSE_CODE',
  'RESPONSE_CODE_DETAILS',
  'RESPONSE_DURATION',
  'RESPONSE_FLAGS',
  'RESPONSE_FLAGS_LONG',
  'RESPONSE_TX_DURATION',
  'ROUTE_NAME',
  'SPAN_ID',
  'START_TIME',
  'STREAM_ID',
  'TRACE_ID',
  'UPSTREAM_CLUSTER',
  'UPSTREAM_HOST',
  'UPSTREAM_LOCAL_ADDRESS',
  'UPSTREAM_REQUEST_ATTEMPT_COUNT',
  'UPSTREAM_TRANSPORT_FAILURE_REASON',
  'VIRTUAL_CLUSTER_NAME',
]);

const NAME = "[\\w!#$&'*+.^|~`-]+";
const HEADER = new RegExp(`^:?${NAME}(?:\\?:?${NAME})?$`);
/** Operators with an argument, and whether a maximum length may follow. */
const WITH_ARGUMENT: ReadonlyMap<string, readonly [argument: RegExp, hasLength: boolean]> = new Map([
  ['COMMON_DURATION', [/^[A-Z_]+:[A-Z_]+:(?:ms|us|ns)$/, false]],
  ['CLUSTER_METADATA', [/^[^:()%]+(?::[^:()%]+)*$/, true]],
  ['DYNAMIC_METADATA', [/^[^:()%]+(?::[^:()%]+)*$/, true]],
  ['ENVIRONMENT', [/^\w+$/, true]],
  ['GRPC_STATUS', [/^(?:CAMEL_STRING|SNAKE_STRING|NUMBER)$/, false]],
  ['METADATA', [/^(?:CLUSTER|DYNAMIC|LISTENER|ROUTE|UPSTREAM_HOST):[^:()%]+(?::[^:()%]+)*$/, true]],
  ['PATH', [/^(?:NQ|WQ)(?::(?:ORIG|PATH|ORIG_OR_PATH))?$/, true]],
  ['REQ', [HEADER, true]],
  ['RESP', [HEADER, true]],
  ['START_TIME', [/^[^()\n\r]*$/, false]],
  ['TRAILER', [HEADER, true]],
]);

const MAX_LENGTH_DIGITS = 4;

/**
 * Returns what Envoy does not accept in a format; `undefined` if nothing. It rejects the whole route configuration of a listener for one such
 * value.
 */
export function envoyFormatProblem(format: string): string | undefined {
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', at)) {
    if (format[at + 1] === '%') {
      at += 2;
      continue;
    }
    const operator = formatOperatorAt(format, at);
    if (!operator || !isAccepted(operator))
      return `${operator?.written ?? format.slice(at, at + 20)} is not an operator of Envoy`;
    at += operator.written.length;
  }
  return undefined;
}

function isAccepted({ name, argument, maxLength }: FormatOperator): boolean {
  if (argument === undefined) return maxLength === undefined && PLAIN.has(name);
  const [form, hasLength] = WITH_ARGUMENT.get(name) ?? [];
  if (!form?.test(argument)) return false;
  return maxLength === undefined || (hasLength === true && maxLength.length <= MAX_LENGTH_DIGITS);
}
