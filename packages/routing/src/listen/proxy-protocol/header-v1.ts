import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import type { InvalidHeader, ParsedHeader, ProxyEnd } from './header.ts';

/** How a header of version 1 begins. */
export const TEXT_START = Buffer.from('PROXY ', 'latin1');

/** Maximum length of a line with its end, as the specification has it. */
const MAX_LINE = 107;
const LINE_FEED = 0x0a;
const PORT = /^(?:0|[1-9]\d{0,4})$/;

const invalid = (reason: string): InvalidHeader => ({ version: 1, reason });

/** Parses a header of version 1 at the start of `bytes`, which begin with {@link TEXT_START}. */
export function parseTextHeader(bytes: Buffer): ParsedHeader {
  const end = bytes.subarray(0, MAX_LINE).indexOf(LINE_FEED);
  if (end < 0) return bytes.length < MAX_LINE ? undefined : invalid(`the line is longer than ${MAX_LINE} bytes`);
  const line = bytes.toString('latin1', 0, end);
  if (!line.endsWith('\r')) return invalid('the line does not end with CRLF');
  const [family, ...fields] = line.slice(TEXT_START.length, -1).split(' ');
  const length = end + 1;
  // The rest of the line is to be ignored.
  if (family === 'UNKNOWN') return { version: 1, length, ends: undefined, tlvs: [] };
  if (family !== 'TCP4' && family !== 'TCP6') return invalid('unknown protocol family');
  if (fields.length !== 4) return invalid('two addresses and two ports are required');
  const source = endOf(family, fields[0]!, fields[2]!);
  const destination = endOf(family, fields[1]!, fields[3]!);
  if (!source || !destination) return invalid('invalid address or port');
  return { version: 1, length, ends: { source, destination }, tlvs: [] };
}

function endOf(family: 'TCP4' | 'TCP6', address: string, port: string): ProxyEnd | undefined {
  if (!PORT.test(port) || Number(port) > 65_535) return undefined;
  if (family === 'TCP4') return isIPv4(address) ? { address, port: Number(port) } : undefined;
  if (!isIPv6(address) || address.includes('%')) return undefined;
  return { address: new SocketAddress({ address, family: 'ipv6' }).address, port: Number(port) };
}
