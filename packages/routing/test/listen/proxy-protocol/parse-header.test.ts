import { expect } from 'chai';
import { prefaceOf } from '../../../src/upstream/connect/proxy-header.ts';
import { crc32c } from '../../../src/listen/proxy-protocol/crc32c.ts';
import { parseProxyHeader } from '../../../src/listen/proxy-protocol/parse-header.ts';
import { binary, field, SIGNATURE, V4, V6, withChecksum } from './headers.ts';

const ENDS_V4 = { source: { address: '192.0.2.7', port: 4711 }, destination: { address: '203.0.113.9', port: 443 } };
const ENDS_V6 = {
  source: { address: '2001:db8::7', port: 1 },
  destination: { address: '2001:db8:0:1::9', port: 65535 },
};
const GET = Buffer.from('GET / HTTP/1.1\r\n');

const VALID: Record<string, [Buffer, object]> = {
  'version 1 with IPv4': [
    Buffer.from('PROXY TCP4 192.0.2.7 203.0.113.9 4711 443\r\n'),
    { version: 1, ends: ENDS_V4, tlvs: [] },
  ],
  'version 1 with IPv6, in its canonical form': [
    Buffer.from('PROXY TCP6 2001:0DB8:0:0::7 2001:db8:0:1::9 1 65535\r\n'),
    { version: 1, ends: ENDS_V6, tlvs: [] },
  ],
  'version 1 with the longest line': [
    Buffer.from(`PROXY UNKNOWN ${'f'.repeat(91)}\r\n`),
    { version: 1, ends: undefined, tlvs: [] },
  ],
  'version 1 without a client': [Buffer.from('PROXY UNKNOWN\r\n'), { version: 1, ends: undefined, tlvs: [] }],
  'version 2 with IPv4': [binary(0x21, 0x11, V4), { version: 2, ends: ENDS_V4, tlvs: [] }],
  'version 2 with IPv6': [binary(0x21, 0x21, V6), { version: 2, ends: ENDS_V6, tlvs: [] }],
  'version 2 with fields': [
    binary(0x21, 0x11, V4, field(2, 'a.example'), field(4, ''), field(0xea, '\u0001vpce')),
    {
      version: 2,
      ends: ENDS_V4,
      tlvs: [
        { type: 2, value: Buffer.from('a.example') },
        { type: 4, value: Buffer.alloc(0) },
        { type: 0xea, value: Buffer.from('\u0001vpce') },
      ],
    },
  ],
  'version 2 with as many bytes as allowed': [
    binary(0x21, 0x11, V4, field(4, Buffer.alloc(8_177))),
    { version: 2, ends: ENDS_V4, tlvs: [{ type: 4, value: Buffer.alloc(8_177) }] },
  ],
  'the command LOCAL': [binary(0x20, 0), { version: 2, ends: undefined, tlvs: [] }],
  'the command LOCAL with an ignored rest': [
    binary(0x20, 0xff, Buffer.alloc(99, 1)),
    { version: 2, ends: undefined, tlvs: [] },
  ],
};

const INVALID: Record<string, [Buffer, string]> = {
  'more than 8,192 bytes behind its beginning': [
    binary(0x21, 0x11, V4, field(4, Buffer.alloc(8_178))),
    'the header is longer than 8208 bytes',
  ],
  'addresses without ports': [binary(0x21, 0x11, V4.subarray(0, 8)), 'the addresses are incomplete'],
  'another protocol': [GET, 'no PROXY header'],
  'a signature that breaks off': [Buffer.concat([SIGNATURE.subarray(0, 8), GET]), 'no PROXY header'],
  'a line without end': [Buffer.from(`PROXY TCP4 ${'1'.repeat(200)}`), 'the line is longer than 107 bytes'],
  'a line that is too long': [Buffer.from(`PROXY UNKNOWN ${'f'.repeat(92)}\r\n`), 'the line is longer than 107 bytes'],
  'a line without carriage return': [
    Buffer.from('PROXY TCP4 192.0.2.7 203.0.113.9 4711 443\n'),
    'the line does not end with CRLF',
  ],
  'an unknown family': [Buffer.from('PROXY UDP4 192.0.2.7 203.0.113.9 1 2\r\n'), 'unknown protocol family'],
  'a family in lower case': [Buffer.from('PROXY tcp4 192.0.2.7 203.0.113.9 1 2\r\n'), 'unknown protocol family'],
  'a missing port': [Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n'), 'two addresses and two ports are required'],
  'two spaces': [Buffer.from('PROXY TCP4 1.2.3.4  5.6.7.8 1 2\r\n'), 'two addresses and two ports are required'],
  'a port with leading zero': [Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 01 2\r\n'), 'invalid address or port'],
  'a port with sign': [Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 +1 2\r\n'), 'invalid address or port'],
  'a port above 65535': [Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n'), 'invalid address or port'],
  'an address with leading zero': [Buffer.from('PROXY TCP4 01.2.3.4 5.6.7.8 1 2\r\n'), 'invalid address or port'],
  'an address of the other family': [Buffer.from('PROXY TCP4 ::1 ::1 1 2\r\n'), 'invalid address or port'],
  'an address with zone': [Buffer.from('PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n'), 'invalid address or port'],
  'a name instead of an address': [Buffer.from('PROXY TCP4 localhost 1.2.3.4 1 2\r\n'), 'invalid address or port'],
  'version 3': [binary(0x31, 0x11, V4), 'unknown version 3'],
  'an unknown command': [binary(0x22, 0x11, V4), 'unknown command 2'],
  'an unspecified family': [binary(0x21, 0), 'unsupported address family or transport 0x0'],
  'a datagram': [binary(0x21, 0x12, V4), 'unsupported address family or transport 0x12'],
  'a Unix socket': [binary(0x21, 0x31, Buffer.alloc(216)), 'unsupported address family or transport 0x31'],
  'incomplete addresses': [binary(0x21, 0x21, V4), 'the addresses are incomplete'],
  'a length above the limit': [binary(0x21, 0x11, V4, Buffer.alloc(8_181)), 'the header is longer than 8208 bytes'],
  'a field without length': [binary(0x21, 0x11, V4, Buffer.from([2, 0])), 'a field is incomplete'],
  'a field beyond the header': [
    binary(0x21, 0x11, V4, Buffer.from([2, 0, 4, 1, 2, 3])),
    'a field is longer than the header',
  ],
  'a wrong checksum': [binary(0x21, 0x11, V4, field(3, '\0\0\0\u0001')), 'wrong checksum'],
  'a checksum of the wrong length': [binary(0x21, 0x11, V4, field(3, '')), 'wrong checksum'],
};

describe('parsing PROXY headers', () => {
  for (const [name, [bytes, expected]] of Object.entries(VALID)) {
    it(`accepts ${name}`, () => {
      expect(parseProxyHeader(Buffer.concat([bytes, GET]))).to.deep.equal({ ...expected, length: bytes.length });
    });

    it(`asks for more at every split of ${name}`, () => {
      for (let i = 0; i < bytes.length; i++)
        expect(parseProxyHeader(bytes.subarray(0, i)), String(i)).to.equal(undefined);
      expect(parseProxyHeader(bytes)).to.deep.equal({ ...expected, length: bytes.length });
    });
  }

  for (const [name, [bytes, reason]] of Object.entries(INVALID)) {
    it(`rejects ${name}, at every split`, () => {
      expect(parseProxyHeader(bytes)).to.deep.include({ reason });
      for (let i = 0; i < bytes.length; i++) {
        const parsed = parseProxyHeader(bytes.subarray(0, i));
        expect(parsed === undefined || ('reason' in parsed && parsed.reason === reason), String(i)).to.equal(true);
      }
    });
  }

  it('accepts a right checksum', () => {
    const header = withChecksum(binary(0x21, 0x11, V4, field(2, 'a'), field(3, Buffer.alloc(4)), field(4, 'pad')));
    expect(parseProxyHeader(header)).to.deep.include({ length: header.length });
    header[16]! ^= 1;
    expect(parseProxyHeader(header)).to.deep.include({ reason: 'wrong checksum' });
  });

  it('rejects a second checksum, whatever it is', () => {
    const first = withChecksum(binary(0x21, 0x11, V4, field(3, Buffer.alloc(4)), field(3, '')));
    expect(parseProxyHeader(first)).to.deep.include({ reason: 'more than one checksum' });
  });

  it('computes CRC-32C as RFC 3720 has it', () => {
    expect(crc32c(Buffer.alloc(32)).toString(16)).to.equal('8a9136aa');
    expect(crc32c(Buffer.alloc(32, 0xff)).toString(16)).to.equal('62a8ab43');
    expect(crc32c(Buffer.from('123456789')).toString(16)).to.equal('e3069283');
  });

  it('reads what the gateway sends to upstreams', () => {
    const client = { remoteAddress: '192.0.2.7', remotePort: 4711, localAddress: '203.0.113.9', localPort: 443 };
    for (const version of ['V1', 'V2'] as const) {
      expect(parseProxyHeader(prefaceOf(version, client)!)).to.deep.include({ ends: ENDS_V4 });
      expect(parseProxyHeader(prefaceOf(version, undefined)!)).to.deep.include({ ends: undefined });
    }
  });

  it('never throws and never reads past the bytes it has', () => {
    const bases = [...Object.values(VALID), ...Object.values(INVALID)].map(([bytes]) => bytes);
    let seed = 1;
    const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below;
    for (let i = 0; i < 20_000; i++) {
      const bytes = Buffer.from(bases[random(bases.length)]!);
      for (let changes = random(4); changes >= 0; changes--) bytes[random(bytes.length)] = random(256);
      const parsed = parseProxyHeader(bytes.subarray(0, random(bytes.length + 1)));
      if (parsed && !('reason' in parsed)) expect(parsed.length).to.be.at.most(bytes.length);
    }
  });
});
