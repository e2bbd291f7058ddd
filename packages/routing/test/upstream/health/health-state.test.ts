import { expect } from 'chai';
import { HealthState } from '../../../src/upstream/health/health-state.ts';
import { compileSchedule } from '../../../src/upstream/health/check-schedule.ts';

const THRESHOLDS = { healthy: 3, unhealthy: 2 };

/** Runs checks and returns the health and the transition after each: `+` passes, `-` cannot connect, `!` fails by its response. */
function run(checks: string, state = new HealthState(THRESHOLDS)): string[] {
  return [...checks].map((check) => {
    const transition = check === '+' ? state.pass() : state.fail(check === '-' ? 'NETWORK' : 'ACTIVE');
    return `${state.healthy ? 'healthy' : 'unhealthy'} ${transition}`;
  });
}

describe('the health of a host by its checks', () => {
  it('is unhealthy before the first check', () => {
    expect(new HealthState(THRESHOLDS).healthy).to.equal(false);
  });

  it('is healthy after the first check if that passes', () => {
    expect(run('+')).to.deep.equal(['healthy changed']);
  });

  it('needs the threshold after a failed first check', () => {
    expect(run('-+++')).to.deep.equal([
      'unhealthy changed',
      'unhealthy pending',
      'unhealthy pending',
      'healthy changed',
    ]);
  });

  it('restarts counting at each failure and each success', () => {
    expect(run('-++-+++').at(-2)).to.equal('unhealthy pending');
    expect(run('+-+-+')).to.satisfy((all: string[]) => all.every((each) => each.startsWith('healthy')));
  });

  it('needs the threshold of failures of the network', () => {
    expect(run('+--')).to.deep.equal(['healthy changed', 'healthy pending', 'unhealthy changed']);
  });

  it('is unhealthy after one failing response', () => {
    expect(run('+!')).to.deep.equal(['healthy changed', 'unhealthy changed']);
  });

  it('starts healthy if it was before, and the first failure decides', () => {
    expect(run('+', new HealthState(THRESHOLDS, true))).to.deep.equal(['healthy changed']);
    expect(run('-', new HealthState(THRESHOLDS, true))).to.deep.equal(['unhealthy changed']);
  });
});

describe('the schedule of checks', () => {
  const check = {
    interval: '10s',
    unhealthyInterval: '3s',
    unhealthyEdgeInterval: '1s',
    healthyEdgeInterval: '2s',
    noTrafficInterval: '20s',
  };
  const none = compileSchedule(check, () => 0);

  for (const [title, passed, transition, expected] of [
    ['passed, healthy', true, 'unchanged', 10_000],
    ['became healthy', true, 'changed', 10_000],
    ['passed, still unhealthy', true, 'pending', 2_000],
    ['failed, still healthy', false, 'pending', 1_000],
    ['became unhealthy', false, 'changed', 3_000],
    ['failed, unhealthy', false, 'unchanged', 3_000],
  ] as const) {
    it(`waits ${expected} ms after: ${title}`, () => {
      expect(none.next({ passed, transition, hasTraffic: true })).to.equal(expected);
    });
  }

  it('uses the interval without traffic before all others', () => {
    expect(none.next({ passed: false, transition: 'pending', hasTraffic: false })).to.equal(20_000);
  });

  it('uses 60s without traffic, and the interval for the others, by default', () => {
    const schedule = compileSchedule({ interval: '4s' }, () => 0);
    expect(schedule.next({ passed: true, transition: 'unchanged', hasTraffic: false })).to.equal(60_000);
    expect(schedule.next({ passed: false, transition: 'pending', hasTraffic: true })).to.equal(4_000);
    expect(schedule.next({ passed: true, transition: 'pending', hasTraffic: true })).to.equal(4_000);
  });

  it('adds both jitters', () => {
    const schedule = compileSchedule(
      { interval: '10s', intervalJitter: '2s', intervalJitterPercent: 50, initialJitter: '1s' },
      () => 0.5,
    );
    expect(schedule.next({ passed: true, transition: 'unchanged', hasTraffic: true })).to.equal(13_500);
    expect(schedule.first()).to.equal(500);
  });

  it('never starts a check without a pause', () => {
    const schedule = compileSchedule({ interval: '0.0001s' }, () => 0);
    expect(schedule.next({ passed: true, transition: 'unchanged', hasTraffic: true })).to.equal(1);
  });
});
