import { refusal, type Refusal } from '../../check/refusal.ts';

/** An error of `node:http`'s parser or of the socket below it. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** Bytes of `rawPacket` before the error. */
  readonly bytesParsed?: number;
}

const BY_CODE: Readonly<Record<string, (error: ClientError) => Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => refusal('ERR_ROUTING_REQUEST_TIMEOUT'),
  HPE_HEADER_OVERFLOW: ({ rawPacket }) =>
    refusal(isEndlessTarget(rawPacket) ? 'ERR_ROUTING_TARGET_TOO_LONG' : 'ERR_ROUTING_HEAD_TOO_LARGE'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ({ reason }) => refusal('ERR_ROUTING_CHUNK_EXTENSION', { detail: reason }),
  HPE_INVALID_CHUNK_SIZE: ({ reason }) => refusal('ERR_ROUTING_BAD_BODY', { detail: reason }),
  HPE_STRICT: byReason,
  HPE_CR_EXPECTED: byReason,
  HPE_LF_EXPECTED: byReason,
  HPE_INVALID_TRANSFER_ENCODING: ({ reason }) => refusal('ERR_ROUTING_BAD_FRAMING', { detail: reason }),
  HPE_INVALID_CONTENT_LENGTH: ({ reason }) => refusal('ERR_ROUTING_BAD_FRAMING', { detail: reason }),
  HPE_UNEXPECTED_CONTENT_LENGTH: ({ reason }) => refusal('ERR_ROUTING_BAD_FRAMING', { detail: reason }),
  HPE_INVALID_HEADER_TOKEN: ({ reason }) => refusal('ERR_ROUTING_BAD_HEADER', { detail: reason }),
  HPE_UNEXPECTED_SPACE: ({ reason }) => refusal('ERR_ROUTING_BAD_HEADER', { detail: reason }),
  HPE_INVALID_METHOD: ({ reason }) => refusal('ERR_ROUTING_BAD_METHOD', { detail: reason }),
  HPE_INVALID_URL: ({ reason }) => refusal('ERR_ROUTING_BAD_TARGET', { detail: reason }),
  HPE_INVALID_VERSION: ({ reason }) =>
    refusal(reason === 'Invalid HTTP version' ? 'ERR_ROUTING_VERSION' : 'ERR_ROUTING_BAD_REQUEST', { detail: reason }),
  HPE_PAUSED_H2_UPGRADE: () => refusal('ERR_ROUTING_VERSION', { detail: 'HTTP/2 preface' }),
};

/** Returns the refusal of a parser error; `undefined` if the client has left. */
export function refusalOf(error: ClientError): Refusal | undefined {
  const { code = '', reason } = error;
  const known = BY_CODE[code];
  if (known) return known(error);
  return code.startsWith('HPE_') ? refusal('ERR_ROUTING_BAD_REQUEST', { detail: reason ?? code }) : undefined;
}

/** Parser error codes that cover every part of a request. */
function byReason({ reason = '' }: ClientError): Refusal {
  if (reason.includes('chunk')) return refusal('ERR_ROUTING_BAD_BODY', { detail: reason });
  return refusal(reason.includes('header') ? 'ERR_ROUTING_BAD_HEADER' : 'ERR_ROUTING_BAD_REQUEST', { detail: reason });
}

/** True when the bytes begin with a request line of more than 8 KiB. */
function isEndlessTarget(bytes: Buffer | undefined): boolean {
  if (bytes === undefined || !/^[A-Z-]+ /.test(bytes.toString('latin1', 0, 32))) return false;
  const end = bytes.indexOf(0x0a);
  return end < 0 || end > 8_192;
}
