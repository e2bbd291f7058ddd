import { expect } from 'chai';
import { HeadCache } from '../../src/http1/head-cache.ts';
import { ResponseParser } from '../../src/http1/response-parser.ts';

const ANSWERS = 6000;

/** The same numbers in every run. */
let state = 5;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;

const STATUSES = [
  '200 OK',
  '200 OK',
  '204 None',
  '304 Same',
  '404 No',
  '100 Go',
  '103 Hints',
  '101 Other',
  '099 Low',
  '200',
];
const FIELDS = ['x-a: 1', 'date: x', 'set-cookie: a', 'keep-alive: timeout=5', 'connection: x-a', 'connection: close'];
const FRAMING = [
  'content-length: 3',
  'content-length: 0',
  'content-length: 5',
  'transfer-encoding: chunked',
  'x-b: \xe9',
];
const BODIES = [
  '',
  'abc',
  'hello',
  '3\r\nabc\r\n0\r\n\r\n',
  '0\r\nx-t: 1\r\n\r\n',
  '0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  '\r\n',
];

function head(): string {
  const fields = Array.from({ length: random(3) }, () => pick(FIELDS));
  return [`HTTP/1.${random(5) === 0 ? 0 : 1} ${pick(STATUSES)}`, ...fields, pick(FRAMING), '', ''].join('\r\n');
}

/** A good or a bad answer, with interim ones before it. */
function answer(): string {
  const text = Array.from({ length: 1 + random(3) }, head).join('') + pick(BODIES);
  const at = random(text.length);
  return random(6) > 0 ? text : text.slice(0, at) + pick(['\r', '\n', '\r\n', 'x', ':']) + text.slice(at + random(2));
}

function inPieces(text: string): string[] {
  const cuts = Array.from({ length: random(5) }, () => random(text.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts].map((cut, i) => text.slice(cut, cuts[i])).filter((piece) => piece !== '');
}

/** All there is to see of an answer; `refused` where it is bad. */
function read(heads: HeadCache, pieces: readonly string[], method: string): unknown {
  const seen = { head: '', body: '', left: '', ended: false };
  const onBody = (buffer: Buffer, start: number, end: number): void =>
    void (seen.body += buffer.toString('latin1', start, end));
  const parser = new ResponseParser(
    {
      onHead: (each) => (seen.head += JSON.stringify(each)),
      onHeadAlone() {},
      onBody,
      onEnd(buffer, start, end) {
        onBody(buffer, start, end);
        seen.ended = true;
      },
    },
    heads,
  );
  parser.expect(method);
  try {
    for (const piece of pieces) {
      const used = parser.idle ? 0 : parser.read(Buffer.from(piece, 'latin1'), piece.length);
      seen.left += piece.slice(used);
    }
  } catch {
    return 'refused';
  }
  return seen;
}

describe('a response parser with cached heads', () => {
  it('reads responses like a new cache, however they are cut', () => {
    const known = new HeadCache();
    const frequent: string[] = [];
    let refused = 0;
    for (let i = 0; i < ANSWERS; i++) {
      const again = frequent.length === 30 && random(3) > 0;
      const text = again ? pick(frequent) : answer();
      if (!again && (frequent.length < 30 || random(20) === 0))
        frequent[random(Math.min(frequent.length + 1, 30))] = text;
      const method = pick(['GET', 'GET', 'HEAD']);
      const cold = read(new HeadCache(), [text], method);
      expect(read(known, inPieces(text), method), `${method} ${JSON.stringify(text)}`).to.deep.equal(cold);
      if (cold === 'refused') refused++;
    }
    expect(Math.min(refused, ANSWERS - refused)).to.be.above(ANSWERS / 10);
  });
});
