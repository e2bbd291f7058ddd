import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ConnectionRecord } from '../../format/connection-record.ts';
import type { RoutingErrorCode } from '../../error-codes.ts';
import { NO_METADATA, NO_RESULT, NO_ROUTE, type RequestRecord } from '../../format/record.ts';
import type { Refusal } from '../../check/refusal.ts';

/** The known facts of a request that did not reach the router. */
export interface RefusedRequest {
  readonly socket: Socket;
  /** Missing if the parser failed before. */
  readonly req: IncomingMessage | undefined;
  /** Missing for a response of the listener itself. */
  readonly refused: Refusal | undefined;
  readonly requestId: string;
  /** 0 if no response could be sent. */
  readonly status: number;
  readonly bytesSent: number;
  readonly startedAt: number;
}

/** Envoy's response code details, or the error code if Envoy has none. */
const DETAILS: Partial<Record<RoutingErrorCode, string>> = {
  ERR_ROUTING_BAD_BODY: 'http1.codec_error',
  ERR_ROUTING_BAD_FRAMING: 'http1.codec_error',
  ERR_ROUTING_BAD_HEADER: 'http1.codec_error',
  ERR_ROUTING_BAD_METHOD: 'http1.codec_error',
  ERR_ROUTING_BAD_REQUEST: 'http1.codec_error',
  ERR_ROUTING_BODY_TOO_LARGE: 'request_payload_too_large',
  ERR_ROUTING_HEAD_TOO_LARGE: 'http1.headers_too_large',
  ERR_ROUTING_HTTP10: 'low_version',
  ERR_ROUTING_OVERLOADED: 'overload',
  ERR_ROUTING_REQUEST_TIMEOUT: 'request_header_timeout',
  ERR_ROUTING_STREAM_TIMEOUT: 'stream_idle_timeout',
  ERR_ROUTING_TARGET_TOO_LONG: 'http1.headers_too_large',
  ERR_ROUTING_TOO_MANY_HEADERS: 'http1.too_many_headers',
  ERR_ROUTING_UNDERSCORE: 'http1.unexpected_underscore',
};

const PROTOCOL_ERRORS: ReadonlySet<number> = new Set([400, 414, 431, 501, 505]);

export function refusedRecord(parts: RefusedRequest): RequestRecord {
  const { socket, req, refused, requestId, status, bytesSent, startedAt } = parts;
  const connection = new ConnectionRecord(req ?? { socket, httpVersion: '1.1' });
  const path = req?.url ?? '';
  const head = {
    method: req?.method ?? '',
    authority: req?.headers.host ?? '',
    path,
    pathname: path.split('?', 1)[0]!,
    originalPath: path,
    headers: (req?.rawHeaders ?? []).map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text)),
    requestId,
    clientAddress: connection.directAddress,
  };
  const known = refused ? resultOf(refused) : { details: 'direct_response', flags: '' };
  const result = { ...NO_RESULT, ...known, status, bytesSent };
  return { startedAt, connection, head, route: NO_ROUTE, result, metadata: NO_METADATA };
}

/** Returns status, flags and details of a rejection for the access log. */
export function resultOf(refused: Refusal): Pick<RequestRecord['result'], 'flags' | 'details' | 'status'> {
  return { status: refused.status, details: DETAILS[refused.code] ?? refused.code, flags: flagsOf(refused) };
}

function flagsOf({ code, status }: Refusal): string {
  if (code === 'ERR_ROUTING_STREAM_TIMEOUT') return 'SI';
  if (code === 'ERR_ROUTING_OVERLOADED') return 'OM';
  return PROTOCOL_ERRORS.has(status) ? 'DPE' : '';
}
