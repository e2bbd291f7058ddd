/** What access logs write, by the name of the field. */
export const LOG_FIELDS = {
  client: '%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%',
  protocol: '%PROTOCOL%',
  method: '%REQ(:METHOD)%',
  path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
  authority: '%REQ(:AUTHORITY)%',
  code: '%RESPONSE_CODE%',
  details: '%RESPONSE_CODE_DETAILS%',
  flags: '%RESPONSE_FLAGS%',
  'long flags': '%RESPONSE_FLAGS_LONG%',
  received: '%BYTES_RECEIVED%',
  sent: '%BYTES_SENT%',
  'upstream host': '%UPSTREAM_HOST%',
  'upstream side': '%UPSTREAM_LOCAL_ADDRESS%',
  attempts: '%UPSTREAM_REQUEST_ATTEMPT_COUNT%',
  failure: '%UPSTREAM_TRANSPORT_FAILURE_REASON%',
  termination: '%CONNECTION_TERMINATION_DETAILS%',
  'server name': '%REQUESTED_SERVER_NAME%',
  'TLS version': '%DOWNSTREAM_TLS_VERSION%',
  'TLS cipher': '%DOWNSTREAM_TLS_CIPHER%',
  'content type': '%RESP(CONTENT-TYPE)%',
  trailer: '%TRAILER(X-T)%',
  'gRPC status': '%GRPC_STATUS%',
  duration: '%DURATION%',
  'request duration': '%REQUEST_DURATION%',
  'response duration': '%RESPONSE_DURATION%',
  'response tx duration': '%RESPONSE_TX_DURATION%',
  'upstream duration': '%COMMON_DURATION(US_TX_BEG:US_RX_BEG:us)%',
} as const;

/** One entry of an access log. */
export type LogEntry = Readonly<Record<string, string | number | null>>;

/** Values that differ from run to run; only whether there is one is compared. */
const VARYING = /duration$|^upstream side$/;

/** Returns the comparable values of an entry as text. */
export function logValues(entry: LogEntry): [name: string, value: string][] {
  return Object.entries(entry).flatMap(([name, value]): [string, string][] => {
    if (name === 'client') return [];
    if (value === null) return [[name, '(none)']];
    return [[name, VARYING.test(name) ? '(some)' : String(value)]];
  });
}
