/** One end of the connection that a PROXY header describes. */
export interface ProxyEnd {
  /** Canonical IP address. */
  readonly address: string;
  readonly port: number;
}

/** A type-length-value field of a binary header. */
export interface Tlv {
  readonly type: number;
  readonly value: Buffer;
}

/** A complete PROXY header. */
export interface ProxyHeader {
  readonly version: 1 | 2;
  /** Bytes that belong to the header. */
  readonly length: number;
  /** Missing if the header names no client (`UNKNOWN`, or the command `LOCAL`): the addresses of the connection itself apply. */
  readonly ends: { readonly source: ProxyEnd; readonly destination: ProxyEnd } | undefined;
  readonly tlvs: readonly Tlv[];
}

/** Why bytes are not a PROXY header. */
export interface InvalidHeader {
  /** Missing if the bytes begin like no version. */
  readonly version: 1 | 2 | undefined;
  readonly reason: string;
}

/** `undefined` if more bytes are needed. */
export type ParsedHeader = ProxyHeader | InvalidHeader | undefined;

export const isInvalid = (parsed: ProxyHeader | InvalidHeader): parsed is InvalidHeader => 'reason' in parsed;
