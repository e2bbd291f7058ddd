import { expect } from 'chai';
import { delayOf, parseDuration } from '../../src/syntax/duration.ts';

describe('parseDuration', () => {
  const good: [text: string, milliseconds: number][] = [
    ['0', 0],
    ['0s', 0],
    ['5s', 5000],
    ['0.25s', 250],
    ['.5s', 500],
    ['1.s', 1000],
    ['500ms', 500],
    ['10us', 0.01],
    ['10µs', 0.01],
    ['100ns', 0.0001],
    ['1h30m', 5_400_000],
    ['1m0.5s', 60_500],
    ['0.1s0.2s', 300],
    ['3600s', 3_600_000],
  ];
  for (const [text, milliseconds] of good) {
    it(`reads ${text}`, () => expect(parseDuration(text)).equal(milliseconds));
  }

  const bad = [
    '',
    ' ',
    '5',
    '5 s',
    '5S',
    '-5s',
    '+5s',
    '5d',
    's',
    '1e3s',
    '1,5s',
    '5s ',
    'Infinity',
    '..s',
    '5s\n',
    '9'.repeat(50) + 'h',
    '1s'.repeat(40),
  ];
  for (const text of bad) {
    it(`rejects ${JSON.stringify(text.slice(0, 20))}`, () => {
      expect(() => parseDuration(text))
        .throw()
        .property('code', 'ERR_CORE_DURATION');
    });
  }
});

describe('delayOf', () => {
  it('returns whole milliseconds, rounded up, that a timer can wait', () => {
    expect(['0s', '100ns', '1.5ms', '2s', '10000h'].map((text) => delayOf(text))).to.deep.equal([
      0, 1, 2, 2000, 36_000_000_000,
    ]);
  });

  it('returns undefined without a duration, and rejects an invalid one', () => {
    expect(delayOf(undefined)).to.equal(undefined);
    expect(() => delayOf('soon'))
      .to.throw()
      .with.property('code', 'ERR_CORE_DURATION');
  });
});
