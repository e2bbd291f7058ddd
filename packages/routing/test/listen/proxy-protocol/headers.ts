import { crc32c } from '../../../src/listen/proxy-protocol/crc32c.ts';

export const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** A field of a binary header. */
export function field(type: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([type, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

/** A binary header: version and command, family and transport, and what follows. */
export function binary(kind: number, family: number, ...rest: readonly Buffer[]): Buffer {
  const after = Buffer.concat(rest);
  return Buffer.concat([SIGNATURE, Buffer.from([kind, family, after.length >> 8, after.length & 0xff]), after]);
}

/** 192.0.2.7:4711 to 203.0.113.9:443. */
export const V4 = Buffer.from('c0000207cb007109126701bb', 'hex');
/** [2001:db8::7]:1 to [2001:db8:0:1::9]:65535. */
export const V6 = Buffer.from('20010db800000000000000000000000720010db80000000100000000000000090001ffff', 'hex');

/** The header with the right checksum in the field of type 3, which has four zero bytes. */
export function withChecksum(header: Buffer): Buffer {
  const at = header.lastIndexOf(Buffer.from([3, 0, 4, 0, 0, 0, 0])) + 3;
  const sum = crc32c(header);
  header.writeUInt32BE(sum, at);
  return header;
}
