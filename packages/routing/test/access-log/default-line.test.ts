import { expect } from 'chai';
import { defaultJsonLine } from '../../src/access-log/default-line.ts';
import { recordOf } from '../records.ts';

describe('default line', () => {
  it('escapes whatever a client or a resource writes', () => {
    for (const text of ['a"b', 'a\\b', 'a\nb\r\t', '\u0000\u001f\u007f', 'ä€😀', '\u2028', '</script>', "'"]) {
      const line = defaultJsonLine(
        recordOf({ method: text, authority: text, details: text, routeName: text, headers: ['user-agent', text] }),
      );
      expect(line.indexOf('\n')).to.equal(line.length - 1);
      expect(JSON.parse(line)).to.include({ method: text, host: text, details: text, route: text, userAgent: text });
    }
  });

  it('has the time of each request to the millisecond', () => {
    for (const startedAt of [
      0, 999, 1_000, 1_767_323_045_678, 1_767_323_045_001, 1_767_323_046_000, 1_767_323_045_999,
    ]) {
      const { time } = JSON.parse(defaultJsonLine(recordOf({ startedAt }))) as { time: string };
      expect(time).to.equal(new Date(startedAt).toISOString());
    }
  });

  it('leaves out what has no value', () => {
    const nothing = { requestId: '', routeName: '', virtualHost: '', upstream: '', upstreamHost: '', upstreamMs: -1 };
    expect(Object.keys(JSON.parse(defaultJsonLine(recordOf({ ...nothing, headers: [] }))) as object)).to.deep.equal([
      'time',
      'method',
      'host',
      'path',
      'status',
      'durationMs',
      'bytesReceived',
      'bytesSent',
    ]);
  });
});
