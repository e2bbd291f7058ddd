import { constants } from 'node:http2';

const CODES = {
  PROTOCOL_ERROR: constants.NGHTTP2_PROTOCOL_ERROR,
  FLOW_CONTROL_ERROR: constants.NGHTTP2_FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR: constants.NGHTTP2_FRAME_SIZE_ERROR,
  COMPRESSION_ERROR: constants.NGHTTP2_COMPRESSION_ERROR,
  STREAM_CLOSED: constants.NGHTTP2_STREAM_CLOSED,
  ENHANCE_YOUR_CALM: constants.NGHTTP2_ENHANCE_YOUR_CALM,
};

/** A violation of the protocol that ends the connection; {@link code} is sent to the peer. */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function connectionError(code: keyof typeof CODES, message: string): ConnectionError {
  return new ConnectionError(CODES[code], message);
}
