import { expect } from 'chai';
import { parseClientHello } from '../../../src/listen/parts/client-hello.ts';
import { recordClientHello } from '../tls/unfinished-handshake.ts';

interface Parts {
  readonly extensions?: Buffer | undefined;
  readonly suites?: Buffer;
  readonly session?: Buffer;
  readonly compression?: Buffer;
}

const vector = (width: 1 | 2, bytes: Buffer): Buffer => {
  const length = Buffer.alloc(width);
  length.writeUIntBE(bytes.length, 0, width);
  return Buffer.concat([length, bytes]);
};
const extension = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0, type]), vector(2, content)]);
const listOf = (name: string | Buffer, type = 0): Buffer =>
  vector(2, Buffer.concat([Buffer.from([type]), vector(2, Buffer.from(name))]));
const nameOf = (name: string | Buffer, type = 0): Buffer => extension(0, listOf(name, type));

function message({ extensions, suites, session, compression }: Parts = {}): Buffer {
  const body = Buffer.concat([
    Buffer.alloc(34, 3),
    vector(1, session ?? Buffer.alloc(32)),
    vector(2, suites ?? Buffer.from('c02f1301', 'hex')),
    vector(1, compression ?? Buffer.alloc(1)),
    extensions === undefined ? Buffer.alloc(0) : vector(2, extensions),
  ]);
  const head = Buffer.from([1, 0, 0, 0]);
  head.writeUIntBE(body.length, 1, 3);
  return Buffer.concat([head, body]);
}

/** The message in records of this size. */
function records(bytes: Buffer, size = 16_384): Buffer {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    out.push(Buffer.from([22, 3, 1]), vector(2, bytes.subarray(at, at + size)));
  }
  return Buffer.concat(out);
}

const CIPHERS = [0xc02f, 0x1301];
const NAMED = message({ extensions: Buffer.concat([extension(10, Buffer.alloc(4)), nameOf('API.example.com')]) });

describe('parsing a ClientHello', () => {
  const valid: Record<string, [Buffer, string]> = {
    'a server name': [NAMED, 'api.example.com'],
    'no extensions': [message(), ''],
    'no server name': [message({ extensions: extension(10, Buffer.alloc(4)) }), ''],
    'empty extensions': [message({ extensions: Buffer.alloc(0) }), ''],
    'a name with underscores': [message({ extensions: nameOf('up_gw-system') }), 'up_gw-system'],
  };
  for (const [name, [bytes, serverName]] of Object.entries(valid)) {
    for (const size of [16_384, 40, 1]) {
      it(`accepts ${name} in records of ${size}, at every split`, () => {
        const sent = records(bytes, size);
        for (let i = 0; i < sent.length; i++)
          expect(parseClientHello(sent.subarray(0, i)), String(i)).to.equal(undefined);
        const expected = { type: 'hello', hello: { serverName, ciphers: CIPHERS } };
        expect(parseClientHello(sent)).to.deep.equal(expected);
        expect(parseClientHello(Buffer.concat([sent, Buffer.from('rest')]))).to.deep.equal(expected);
      });
    }
  }

  const invalid: Record<string, [Buffer, string]> = {
    'other protocols': [Buffer.from('GET / HTTP/1.1\r\n'), 'notTls'],
    'SSL 2': [Buffer.from([0x80, 0x2e, 1, 0, 2]), 'notTls'],
    'another version': [Buffer.from([22, 2, 0]), 'notTls'],
    'an empty record': [Buffer.from([22, 3, 1, 0, 0]), 'invalid'],
    'a record that is too long': [Buffer.from([22, 3, 1, 0x40, 1]), 'invalid'],
    'too many records': [records(Buffer.concat([Buffer.from([1, 0, 1, 0]), Buffer.alloc(256)]), 1), 'tooLarge'],
    'another handshake message': [records(Buffer.from([2, 0, 0, 0])), 'invalid'],
    'a message that is too long': [records(Buffer.from([1, 0, 0x40, 0])), 'tooLarge'],
    'another record within the message': [
      Buffer.concat([records(NAMED.subarray(0, 20)), Buffer.from([23, 3, 1, 0, 1, 0])]),
      'invalid',
    ],
    'a session id that is too long': [records(message({ session: Buffer.alloc(33) })), 'invalid'],
    'no cipher suites': [records(message({ suites: Buffer.alloc(0) })), 'invalid'],
    'half a cipher suite': [records(message({ suites: Buffer.alloc(3) })), 'invalid'],
    'no compression method': [records(message({ compression: Buffer.alloc(0) })), 'invalid'],
    'an extension beyond the end': [records(message({ extensions: Buffer.from([0, 0, 0, 9, 1]) })), 'invalid'],
    'two server names': [records(message({ extensions: Buffer.concat([nameOf('a'), nameOf('b')]) })), 'invalid'],
    'bytes behind the list of names': [
      records(message({ extensions: extension(0, Buffer.concat([listOf('a'), Buffer.of(0)])) })),
      'invalid',
    ],
    'an empty server name': [records(message({ extensions: nameOf('') })), 'invalid'],
    'a name of another type': [records(message({ extensions: nameOf('a', 1) })), 'invalid'],
    'a name with a zero byte': [records(message({ extensions: nameOf('a\0b') })), 'invalid'],
    'a name with a line break': [records(message({ extensions: nameOf('a\nb') })), 'invalid'],
    'a name that is too long': [records(message({ extensions: nameOf('a'.repeat(256)) })), 'invalid'],
    'bytes behind the extensions': [records(Buffer.concat([message({ extensions: nameOf('a') })])), 'hello'],
  };
  for (const [name, [bytes, type]] of Object.entries(invalid)) {
    it(`returns ${type} for ${name}`, () => {
      expect(parseClientHello(bytes)?.type).to.equal(type);
      for (let i = 0; i < bytes.length; i++)
        expect(parseClientHello(bytes.subarray(0, i))?.type ?? type).to.equal(type);
    });
  }

  it('ends after a bounded number of bytes', () => {
    const [longest, size] = [Buffer.from([1, 0, 0x3f, 0xfc]), 64];
    const endless = records(Buffer.concat([longest, Buffer.alloc(20_000)]), size);
    const decided = [...endless.keys()].find((length) => parseClientHello(endless.subarray(0, length)) !== undefined);
    expect(decided).to.be.below(256 * (size + 5) + 1);
  });

  it('never throws', () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below;
    for (let i = 0; i < 20_000; i++) {
      const bytes = Buffer.from(records(NAMED, 1 + random(200)));
      for (let changes = random(4); changes >= 0; changes--) bytes[random(bytes.length)] = random(256);
      parseClientHello(bytes.subarray(0, random(bytes.length + 1)));
    }
  });

  it('reads what Node sends', async () => {
    const parsed = parseClientHello(await recordClientHello({ servername: 'shop.example', ciphers: 'AES128-SHA' }));
    expect(parsed?.type === 'hello' && parsed.hello.serverName).to.equal('shop.example');
    expect(parsed?.type === 'hello' && parsed.hello.ciphers).to.include(0x002f);
  });
});
