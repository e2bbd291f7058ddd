/** Operators that stand alone in the value of an added header. */
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
  'VIRTUAL_HOST_NAME',
] as const;

/** Operators that take an argument in brackets. */
export const ARGUMENT_OPERATORS = ['DYNAMIC_METADATA', 'REQ', 'START_TIME'] as const;

/** Further ones for response headers, alone and with an argument. */
export const RESPONSE_OPERATORS = [
  'BYTES_RECEIVED',
  'BYTES_SENT',
  'DURATION',
  'RESPONSE_CODE',
  'RESPONSE_CODE_DETAILS',
  'RESPONSE_DURATION',
  'RESPONSE_FLAGS',
  'RESPONSE_TX_DURATION',
] as const;
export const RESPONSE_ARGUMENT_OPERATORS = ['RESP'] as const;

const PLAIN: ReadonlySet<string> = new Set(PLAIN_OPERATORS);
const WITH_ARGUMENT: ReadonlySet<string> = new Set(ARGUMENT_OPERATORS);
const RESPONSE: ReadonlySet<string> = new Set(RESPONSE_OPERATORS);
const RESPONSE_WITH_ARGUMENT: ReadonlySet<string> = new Set(RESPONSE_ARGUMENT_OPERATORS);
const OPERATOR = /%([A-Z_0-9]+)(\((?:[^)%]|%[^)]?)*\))?(?::\d+)?%/y;

/** Why the value of an added header cannot be used: an operator nobody knows, or a percent sign that is not doubled. */
export function headerFormatProblem(value: string, use: 'request' | 'response'): string | undefined {
  for (let at = value.indexOf('%'); at >= 0; at = value.indexOf('%', at)) {
    if (value[at + 1] === '%') {
      at += 2;
      continue;
    }
    OPERATOR.lastIndex = at;
    const [written, name, argument] = OPERATOR.exec(value) ?? [];
    if (written === undefined) return `'${value.slice(at, at + 20)}' begins no operator; a percent sign is written %%`;
    if (!isKnown(name!, argument !== undefined, use)) return `${written} is no operator of a ${use} header`;
    at += written.length;
  }
  return undefined;
}

function isKnown(name: string, hasArgument: boolean, use: 'request' | 'response'): boolean {
  if ((hasArgument ? WITH_ARGUMENT : PLAIN).has(name)) return true;
  return use === 'response' && (hasArgument ? RESPONSE_WITH_ARGUMENT : RESPONSE).has(name);
}
