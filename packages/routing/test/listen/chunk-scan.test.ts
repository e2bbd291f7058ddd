import { expect } from 'chai';
import { createChunkScan, headEnd, type ChunkProgress } from '../../src/listen/chunk-scan.ts';

/** The progress of a body, fed in pieces of this size. */
function scan(body: string, piece = body.length): ChunkProgress {
  const scanner = createChunkScan(16);
  const bytes = Buffer.from(body, 'latin1');
  for (let at = 0; at < bytes.length; at += piece) {
    const progress = scanner.feed(bytes.subarray(at, at + piece), 0);
    if (progress !== 'more') return progress;
  }
  return 'more';
}

describe('createChunkScan', () => {
  const cases: readonly [string, string, ChunkProgress][] = [
    ['a whole body', '5\r\nabcde\r\n0\r\n\r\n', 'end'],
    ['a body that goes on', '5\r\nabcde\r\n', 'more'],
    ['an extension at the limit', `5;${'x'.repeat(15)}\r\nabcde\r\n`, 'more'],
    ['an extension above the limit', `5;${'x'.repeat(16)}\r\nabcde\r\n`, 'extensionTooLong'],
    ['an extension of hex digits above the limit', `5;${'a'.repeat(16)}\r\nabcde\r\n`, 'extensionTooLong'],
    ['a long extension of the last chunk', `1\r\na\r\n0;${'x'.repeat(16)}\r\n\r\n`, 'extensionTooLong'],
    ['data that looks like a long extension', `2a\r\n;${'x'.repeat(41)}\r\n0\r\n\r\n`, 'end'],
    ['extensions that are long together', `1;${'x'.repeat(9)}\r\na\r\n`.repeat(9), 'more'],
    ['a size without digits', '\r\nabc', 'end'],
    ['a size beyond all bounds', 'fffffffffffffff\r\n', 'end'],
  ];
  for (const [name, body, expected] of cases) {
    it(`follows ${name}, however it is cut`, () => {
      for (const piece of [body.length, 1, 3, 7]) expect(scan(body, piece), String(piece)).to.equal(expected);
    });
  }
});

describe('headEnd', () => {
  it('finds the end of the head whose last header it is told', () => {
    const first = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const second = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const bytes = Buffer.from(`${first}${second}0\r\n\r\n`);
    expect(headEnd(bytes, 'transfer-encoding')).to.equal(first.length + second.length);
    expect(headEnd(Buffer.from('unked\r\n\r\n0\r\n'), 'Transfer-Encoding')).to.equal(9);
    expect(headEnd(Buffer.from('nothing'), 'Host')).to.equal(-1);
  });
});
