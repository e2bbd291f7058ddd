import { SocketAddress } from 'node:net';
import { PROXY_SIGNATURE } from '../../upstream/connect/proxy-header.ts';
import { crc32c } from './crc32c.ts';
import type { InvalidHeader, ParsedHeader, ProxyEnd, Tlv } from './header.ts';

/** Signature, version and command, family, length. */
const FIXED_LENGTH = 16;
/** Maximum length of what follows, in bytes: addresses, and the fields that load balancers add. */
const MAX_REST = 8_192;
const LOCAL = 0;
const PROXY = 1;
/** Length of the addresses and ports by family and transport: TCP over IPv4 and IPv6. */
const ADDRESS_LENGTHS: ReadonlyMap<number, 4 | 16> = new Map([
  [0x11, 4],
  [0x21, 16],
]);
const TLV_CRC32C = 3;

const invalid = (reason: string): InvalidHeader => ({ version: 2, reason });

/** Parses a header of version 2 at the start of `bytes`, which begin with its signature. */
export function parseBinaryHeader(bytes: Buffer): ParsedHeader {
  if (bytes.length < FIXED_LENGTH) return undefined;
  const kind = bytes[PROXY_SIGNATURE.length]!;
  const command = kind & 0x0f;
  const rest = bytes.readUInt16BE(FIXED_LENGTH - 2);
  if (kind >> 4 !== 2) return invalid(`unknown version ${kind >> 4}`);
  if (command !== LOCAL && command !== PROXY) return invalid(`unknown command ${command}`);
  if (rest > MAX_REST) return invalid(`the header is longer than ${FIXED_LENGTH + MAX_REST} bytes`);
  const family = bytes[FIXED_LENGTH - 3]!;
  const width = ADDRESS_LENGTHS.get(family);
  if (command === PROXY) {
    if (width === undefined) return invalid(`unsupported address family or transport 0x${family.toString(16)}`);
    if (rest < 2 * width + 4) return invalid('the addresses are incomplete');
  }
  const length = FIXED_LENGTH + rest;
  if (bytes.length < length) return undefined;
  if (command === LOCAL) return { version: 2, length, ends: undefined, tlvs: [] };
  const header = bytes.subarray(0, length);
  const tlvs = tlvsOf(header, FIXED_LENGTH + 2 * width! + 4);
  if (typeof tlvs === 'string') return invalid(tlvs);
  return { version: 2, length, ends: endsOf(header, width!), tlvs };
}

function endsOf(header: Buffer, width: 4 | 16): { source: ProxyEnd; destination: ProxyEnd } {
  const end = (i: 0 | 1): ProxyEnd => ({
    address: addressOf(header.subarray(FIXED_LENGTH + i * width, FIXED_LENGTH + (i + 1) * width)),
    port: header.readUInt16BE(FIXED_LENGTH + 2 * width + 2 * i),
  });
  return { source: end(0), destination: end(1) };
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const address = bytes.toString('hex').replace(/.{4}(?!$)/g, '$&:');
  return new SocketAddress({ address, family: 'ipv6' }).address;
}

/** Returns the fields from `start` to the end of a header, or why they are invalid. */
function tlvsOf(header: Buffer, start: number): readonly Tlv[] | string {
  const tlvs: Tlv[] = [];
  let isChecked = false;
  for (let at = start; at < header.length;) {
    const from = at + 3;
    if (from > header.length) return 'a field is incomplete';
    const to = from + header.readUInt16BE(at + 1);
    if (to > header.length) return 'a field is longer than the header';
    const type = header[at]!;
    if (type === TLV_CRC32C) {
      // Each checksum would be computed over the whole header.
      if (isChecked) return 'more than one checksum';
      if (!isIntact(header, from, to)) return 'wrong checksum';
      isChecked = true;
    }
    // A copy, because the received bytes are larger and would be kept with it.
    tlvs.push({ type, value: Buffer.from(header.subarray(from, to)) });
    at = to;
  }
  return tlvs;
}

/** Verifies the checksum of a header, which counts as zero itself. */
function isIntact(header: Buffer, from: number, to: number): boolean {
  if (to - from !== 4) return false;
  const blank = Buffer.from(header);
  blank.fill(0, from, to);
  return crc32c(blank) === header.readUInt32BE(from);
}
