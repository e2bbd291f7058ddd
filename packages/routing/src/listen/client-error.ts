import { refusal, type Refusal } from './refusal.ts';

/** An error of `node:http`'s parser or of the socket below it. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  /** The bytes in which the parser stopped. */
  readonly rawPacket?: Buffer;
}

const BY_CODE: Readonly<Record<string, (error: ClientError) => Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => refusal('ERR_ROUTING_REQUEST_TIMEOUT'),
  HPE_HEADER_OVERFLOW: ({ rawPacket }) =>
    refusal(isEndlessTarget(rawPacket) ? 'ERR_ROUTING_TARGET_TOO_LONG' : 'ERR_ROUTING_HEAD_TOO_LARGE'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ({ reason }) => refusal('ERR_ROUTING_CHUNK_EXTENSION', { detail: reason }),
  HPE_INVALID_CHUNK_SIZE: ({ reason }) => refusal('ERR_ROUTING_BAD_BODY', { detail: reason }),
  HPE_STRICT: ({ reason }) => refusal('ERR_ROUTING_BAD_BODY', { detail: reason }),
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

/** What to answer to an error of the parser; `undefined` when the client is gone and there is nobody to answer. */
export function refusalOf(error: ClientError): Refusal | undefined {
  const { code = '', reason } = error;
  const known = BY_CODE[code];
  if (known) return known(error);
  return code.startsWith('HPE_') ? refusal('ERR_ROUTING_BAD_REQUEST', { detail: reason ?? code }) : undefined;
}

/** True when the bytes are the start of a request line that never ends. */
function isEndlessTarget(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && !bytes.includes(0x0a) && /^[A-Z-]+ /.test(bytes.toString('latin1', 0, 32));
}
