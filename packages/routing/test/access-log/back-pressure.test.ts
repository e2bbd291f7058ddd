import type { Counter } from '@edge-gateway/core';
import { expect } from 'chai';
import { createBackPressure, MAX_HOLD_MS, type BackPressure } from '../../src/access-log/back-pressure.ts';
import type { Sinks } from '../../src/access-log/sinks.ts';
import { fakeTime } from '../../../../test/parts/fake-time.ts';
import { until } from '../forward/harness.ts';

describe('back pressure of access logs', () => {
  let sinks: { isBehind: boolean; onProgress: () => void };
  let held: { value: number };
  let pressure: BackPressure;
  let begun: string[];
  beforeEach(() => {
    sinks = { isBehind: true, onProgress: () => {} };
    held = { value: 0 };
    begun = [];
    pressure = createBackPressure(sinks as Sinks, held as Counter);
  });
  const hold = (name: string): void => pressure.hold(() => begun.push(name));

  it('blocks requests while a log is too slow, and resumes them in order', () => {
    hold('a');
    hold('b');
    sinks.onProgress();
    expect([begun, held.value]).to.deep.equal([[], 2]);
    sinks.isBehind = false;
    sinks.onProgress();
    expect(begun).to.deep.equal(['a', 'b']);
    sinks.onProgress();
    expect(begun).to.deep.equal(['a', 'b']);
  });

  it('resumes requests without a write to a log, in each period in which it is too slow', async () => {
    for (const name of ['a', 'b']) {
      sinks.isBehind = true;
      hold(name);
      sinks.isBehind = false;
      await until(() => begun.includes(name), 'the check of the log');
    }
  });

  it('begins a request after the longest time, and no other', async () => {
    const time = fakeTime();
    try {
      hold('early');
      await time.pass(MAX_HOLD_MS / 2);
      hold('late');
      await time.pass(MAX_HOLD_MS / 2 - 100);
      expect(begun).to.deep.equal([]);
      await time.pass(200);
      expect(begun).to.deep.equal(['early']);
      await time.pass(MAX_HOLD_MS / 2);
      expect(begun).to.deep.equal(['early', 'late']);
    } finally {
      time.restore();
    }
  });
});
