import { expect } from 'chai';
import { toByteString } from '@edge-gateway/core';
import { defaultJsonLine, defaultLineFor } from '../../src/access-log/default-line.ts';
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

  it('writes header values as the text that they are in UTF-8', () => {
    const record = recordOf({ headers: ['user-agent', toByteString('Mikołaj')] });
    expect(JSON.parse(defaultJsonLine(record))).to.include({ userAgent: 'Mikołaj' });
  });

  it('has the time of each request to the millisecond', () => {
    for (const startedAt of [
      0, 999, 1_000, 1_767_323_045_678, 1_767_323_045_001, 1_767_323_046_000, 1_767_323_045_999,
    ]) {
      const { time } = JSON.parse(defaultJsonLine(recordOf({ startedAt }))) as { time: string };
      expect(time).to.equal(new Date(startedAt).toISOString());
    }
  });

  it('contains the route and upstream of each request, independent of the previous request', () => {
    const base = { routeName: 'r', virtualHost: 'v', upstream: 'u', upstreamHost: '10.0.0.1:80' };
    const others = [
      base,
      { ...base, upstreamHost: '10.0.0.2:80' },
      { ...base, upstream: 'w' },
      { ...base, virtualHost: 'x' },
      { ...base, upstream: '' },
      base,
      { ...base, routeName: '' },
    ];
    for (const { routeName, ...rest } of [...others, ...others]) {
      const line = JSON.parse(defaultJsonLine(recordOf({ routeName, ...rest }))) as Record<string, string>;
      const written = { route: '', upstream: '', ...line };
      expect(written).to.include({ route: routeName, ...rest });
    }
  });

  it('rounds durations to a tenth of a millisecond', () => {
    const durations = [0, 0.04, 0.05, 0.96, 1, 1.25, 12, 12.34, 99.96, 100.1, 123_456.78];
    const written = durations.map(
      (durationMs) => /"durationMs":([^,]+),/.exec(defaultJsonLine(recordOf({ durationMs })))![1],
    );
    expect(written).to.deep.equal(['0', '0', '0.1', '1', '1', '1.3', '12', '12.3', '100', '100.1', '123456.8']);
  });

  it('omits fields without a value', () => {
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

describe('default line on a terminal', () => {
  const line = defaultLineFor({ isTTY: true, hasColors: () => false });
  const time = '\\d\\d:\\d\\d:\\d\\d';

  it('has time, method, host with path, status and duration', () => {
    expect(line(recordOf({ details: 'via_upstream' }))).to.match(
      new RegExp(`^${time} GET a\\.example/a\\?x=1 200 12\\.3ms\n$`),
    );
  });

  it('has flags and the reason of a failure, and no secrets of the query', () => {
    const failed = { status: 503, flags: 'UF', details: 'upstream_reset', originalPath: '/cb?code=secret' };
    expect(line(recordOf(failed))).to.match(
      new RegExp(`^${time} GET a\\.example/cb\\?code=\\[redacted\\] 503 12\\.3ms UF upstream_reset\n$`),
    );
  });

  it('omits fields that a malformed request does not have', () => {
    const malformed = { method: '', authority: '', originalPath: '', status: 400, flags: 'DPE', durationMs: 0 };
    expect(line(recordOf(malformed))).to.match(new RegExp(`^${time} 400 0ms DPE\n$`));
  });

  it('escapes control characters, so that a client can neither move the cursor nor forge a line', () => {
    const text = 'a\u001b[2J\nb\r\u009b';
    const written = line(recordOf({ method: text, authority: text, originalPath: `/${text}`, details: text }));
    // oxlint-disable-next-line no-control-regex
    expect(written.slice(0, -1)).not.to.match(/[\u0000-\u0008\u000a-\u001f\u0080-\u009f]/);
    expect(written).to.include('a\\u001b[2J\\nb\\u000d\\u009b');
  });

  it('shows the status in colour if the terminal supports it', () => {
    const colored = defaultLineFor({ isTTY: true, hasColors: () => true });
    for (const [status, color] of [
      [101, 36],
      [200, 32],
      [302, 36],
      [404, 33],
      [503, 31],
      [0, 31],
    ]) {
      expect(colored(recordOf({ status: status! }))).to.include(`\u001b[${color}m${status}\u001b[39m`);
    }
  });

  it('is JSON without a terminal', () => {
    expect(JSON.parse(defaultLineFor({ hasColors: () => true })(recordOf()))).to.include({ status: 200 });
  });
});
