import { isIPv4, isIPv6 } from 'node:net';

/** Tags of ASN.1 types (X.690 §8), as used in certificates. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns an element in the Distinguished Encoding Rules: tag, length, content. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

/** Returns an object identifier, e.g. of `2.5.29.17`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number) as [number, number, ...number[]];
  const bytes = [first * 40 + second, ...rest.flatMap(base128)];
  return der(0x06, Buffer.from(bytes));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** Returns a time in the form that RFC 5280 §4.1.2.5 requires for its year. */
export function time(date: Date): Buffer {
  const text = `${date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`;
  const isUtcTime = date.getUTCFullYear() < 2050;
  return der(isUtcTime ? TAG.utcTime : TAG.generalizedTime, Buffer.from(isUtcTime ? text.slice(2) : text));
}

/** Returns a subject alternative name: of an IP address, else of a DNS name. */
export function generalName(name: string): Buffer {
  if (isIPv4(name)) return der(0x87, Buffer.from(name.split('.').map(Number)));
  if (isIPv6(name)) return der(0x87, ipv6Bytes(name));
  return der(0x82, Buffer.from(name, 'ascii'));
}

function ipv6Bytes(name: string): Buffer {
  // The host of a URL has the shortest form of an address, without an embedded IPv4 address.
  const [head = '', tail] = new URL(`http://[${name}]`).hostname.slice(1, -1).split('::') as [string?, string?];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? [] : new Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
