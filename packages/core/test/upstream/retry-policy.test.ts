import { expect } from 'chai';
import { compileRetries } from '../../src/upstream/retry-policy.ts';
import type { Retries } from '../../src/schema/route/retries.ts';

const requested = (backOff: Retries['rateLimitedRetryBackOff'], headers: Record<string, string>): number | undefined =>
  compileRetries({ rateLimitedRetryBackOff: backOff }).requestedDelayMs((name) => headers[name]);

describe('a compiled retry policy', () => {
  it('has one retry unless more are set', () => {
    expect([{}, { numRetries: 0 }, { numRetries: 4 }].map((each) => compileRetries(each).numRetries)).to.deep.equal([
      1, 1, 4,
    ]);
  });

  it('retries the statuses of its conditions', () => {
    const retried = (retryOn: string): number[] =>
      [200, 408, 409, 499, 500, 501, 502, 503, 504, 505].filter(compileRetries({ retryOn }).onStatus);
    expect(retried('5xx')).to.deep.equal([500, 501, 502, 503, 504, 505]);
    expect(retried('gateway-error')).to.deep.equal([502, 503, 504]);
    expect(retried('retriable-4xx')).to.deep.equal([409]);
    expect(retried('connect-failure')).to.deep.equal([]);
  });

  it('delays at random below an interval that doubles up to its maximum', () => {
    const { delayMs } = compileRetries({ retryBackOff: { baseInterval: '100ms', maxInterval: '0.3s' } });
    for (const [retry, max] of [
      [1, 100],
      [2, 200],
      [3, 300],
      [40, 300],
    ] as const) {
      for (let i = 0; i < 200; i++) expect(delayMs(retry)).to.be.within(0, max);
    }
  });

  it('delays by 25 ms and at most ten times that unless it is set', () => {
    const { delayMs } = compileRetries({});
    for (let i = 0; i < 200; i++) {
      expect(delayMs(1)).to.be.within(0, 25);
      expect(delayMs(50)).to.be.within(0, 250);
    }
  });

  it('delays for as long as the server requests, also for longer than a timer of Node', () => {
    const resetHeaders = [{ name: 'retry-after' }];
    const delayMs = requested({ resetHeaders, maxInterval: '9000h' }, { 'retry-after': '9000000' });
    expect(delayMs).to.be.within(9_000_000_000, 13_500_000_000);
  });

  it('compares the priorities after one attempt unless more are set', () => {
    expect(compileRetries({}).priorityEvery).to.equal(undefined);
    expect(compileRetries({ previousPriorities: {} }).priorityEvery).to.equal(1);
    expect(compileRetries({ previousPriorities: { updateFrequency: 3 } }).priorityEvery).to.equal(3);
  });

  describe('reads the delay that a response asks for', () => {
    const seconds = { resetHeaders: [{ name: 'Retry-After', format: 'SECONDS' }] } as const;
    const date = { resetHeaders: [{ name: 'x-reset', format: 'UNIX_TIMESTAMP' }] } as const;

    it('in seconds, and adds up to half of it', () => {
      const delays = Array.from({ length: 100 }, () => requested(seconds, { 'retry-after': '2' })!);
      for (const delay of delays) expect(delay).to.be.within(2000, 3000);
      expect(new Set(delays).size).to.be.above(1);
    });

    it('as a time', () => {
      const inTen = String(Math.floor(Date.now() / 1000) + 10);
      expect(requested(date, { 'x-reset': inTen })).to.be.within(8000, 15_000);
    });

    it('from the first header with a usable time', () => {
      const both = { resetHeaders: [...date.resetHeaders, ...seconds.resetHeaders] };
      expect(requested(both, { 'x-reset': '12', 'retry-after': '1' })).to.be.within(1000, 1500);
    });

    for (const value of ['', 'soon', '-1', '1.5', '0', '301', '9'.repeat(30), 'Wed, 21 Oct 2026 07:28:00 GMT']) {
      it(`but not ${JSON.stringify(value)}`, () => {
        expect(requested(seconds, { 'retry-after': value })).to.equal(undefined);
      });
    }

    it('up to the maximum', () => {
      const backOff = { ...seconds, maxInterval: '1s' };
      expect(requested(backOff, { 'retry-after': '2' })).to.equal(undefined);
      expect(requested(backOff, { 'retry-after': '1' })).to.be.within(1000, 1500);
    });
  });
});
