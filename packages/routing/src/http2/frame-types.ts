/** Frame types (RFC 9113 6). */
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const HAS_PRIORITY = 0x20;

/** Settings (RFC 9113 6.5.2, RFC 8441 3). */
export const ENABLE_PUSH = 2;
export const MAX_CONCURRENT_STREAMS = 3;
export const INITIAL_WINDOW_SIZE = 4;
export const MAX_FRAME_SIZE = 5;
export const MAX_HEADER_LIST_SIZE = 6;
export const ENABLE_CONNECT_PROTOCOL = 8;

export const FRAME_HEAD_BYTES = 9;
/** Largest payload that both sides accept without a setting; larger ones are not accepted here. */
export const DEFAULT_FRAME_BYTES = 16_384;
export const LARGEST_FRAME_BYTES = 2 ** 24 - 1;
/** Window of a stream, and of a connection, without a setting. */
export const DEFAULT_WINDOW = 65_535;
export const LARGEST_WINDOW = 2 ** 31 - 1;
export const LAST_STREAM_ID = 2 ** 31 - 1;

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** The head of a frame, in latin1. */
export function frameHead(length: number, type: number, flags: number, id: number): string {
  return String.fromCharCode(
    length >> 16,
    (length >> 8) & 0xff,
    length & 0xff,
    type,
    flags,
    id >>> 24,
    (id >> 16) & 0xff,
    (id >> 8) & 0xff,
    id & 0xff,
  );
}

/** A number of 32 bits, in latin1. */
export function uint32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff);
}

/** A setting, in latin1. */
export function setting(id: number, value: number): string {
  return String.fromCharCode(id >> 8, id & 0xff) + uint32(value);
}
