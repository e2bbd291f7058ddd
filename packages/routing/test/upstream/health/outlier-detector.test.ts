import { createLoggers, createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import type { OutlierDetection } from '../../../src/upstream/health/health-spec.ts';
import { createOutlierStats } from '../../../src/upstream/health/health-stats.ts';
import { OutlierDetector } from '../../../src/upstream/health/outlier-detector.ts';
import { outlierThreshold, RequestWindow } from '../../../src/upstream/health/success-rate.ts';
import { HostSet } from '../../../src/upstream/hosts/host-set.ts';

/** A detector for `count` hosts with a clock and chance of the test. */
function detect(block: OutlierDetection, count = 10) {
  const hosts = new HostSet();
  hosts.update(Array.from({ length: count }, (_, i) => ({ address: '127.0.0.1', port: 1000 + i, weight: 1 })));
  const stats = createOutlierStats(createMetrics(), 'a');
  const world = { now: 0, random: 0.5 };
  const logged: Record<string, unknown>[] = [];
  const log = createLoggers({ destination: { write: (line: string) => void logged.push(JSON.parse(line)) } });
  const detector = new OutlierDetector(
    { interval: '1s', ...block },
    {
      cluster: 'a',
      hosts,
      stats,
      log: log.get('upstream'),
      now: () => world.now,
      random: () => world.random,
    },
  );
  const ejected = (): number[] => hosts.all.flatMap((host, i) => (host.hasFlag('failedOutlierCheck') ? [i] : []));
  return {
    stats,
    world,
    detector,
    logged,
    hosts: hosts.all,
    ejected,
    send(i: number, status: number, times = 1) {
      for (let n = 0; n < times; n++) detector.count(hosts.all[i]!, { status });
    },
    fail(i: number, localFailure: number, times = 1) {
      for (let n = 0; n < times; n++) detector.count(hosts.all[i]!, { localFailure });
    },
    sweepAt(ms: number) {
      world.now = ms;
      detector.sweep();
    },
  };
}

describe('outlier detection', () => {
  it('ejects a host after five 5xx in a row', () => {
    const { send, ejected, stats } = detect({});
    send(0, 500, 4);
    expect(ejected()).to.deep.equal([]);
    send(0, 500);
    expect(ejected()).to.deep.equal([0]);
    expect(stats.enforcedConsecutive5xx.value).to.equal(1);
    expect(stats.active.value).to.equal(1);
  });

  it('is evaluated at the interval, also at one longer than a timer of Node', () => {
    expect(detect({ interval: '9000h' }).detector.intervalMs).to.equal(9000 * 3_600_000);
    expect(detect({ interval: '1.5s' }).detector.intervalMs).to.equal(1500);
  });

  it('restarts counting after another response', () => {
    const { send, ejected } = detect({ consecutive5xx: 2 });
    for (let i = 0; i < 5; i++) {
      send(0, 503);
      send(0, 404);
    }
    expect(ejected()).to.deep.equal([]);
  });

  it('counts failed connections as 5xx', () => {
    const { fail, ejected } = detect({ consecutive5xx: 3 });
    fail(0, 503, 3);
    expect(ejected()).to.deep.equal([0]);
  });

  it('counts gateway failures apart, and ejects for them only if enforced', () => {
    const off = detect({ consecutive5xx: 0, consecutiveGatewayFailure: 2 });
    off.send(0, 502, 2);
    expect(off.ejected()).to.deep.equal([]);
    expect(off.stats.detectedGatewayFailure.value).to.equal(1);
    const on = detect({ consecutive5xx: 0, consecutiveGatewayFailure: 2, enforcingConsecutiveGatewayFailure: 100 });
    on.send(0, 500, 9);
    expect(on.ejected()).to.deep.equal([]);
    on.send(0, 504, 2);
    expect(on.ejected()).to.deep.equal([0]);
    expect(on.stats.enforcedGatewayFailure.value).to.equal(1);
  });

  it('ejects with the given probability', () => {
    const { world, send, ejected, stats } = detect({ consecutive5xx: 1, enforcingConsecutive5xx: 30 });
    world.random = 0.3;
    send(0, 500);
    expect(ejected()).to.deep.equal([]);
    world.random = 0.29;
    send(0, 500);
    expect(ejected()).to.deep.equal([0]);
    expect(stats.detectedConsecutive5xx.value).to.equal(2);
    expect(stats.enforcedConsecutive5xx.value).to.equal(1);
  });

  it('ejects at most the given share, but one host of any number', () => {
    const one = detect({ consecutive5xx: 1 }, 3);
    one.send(0, 500);
    one.send(1, 500);
    expect(one.ejected()).to.deep.equal([0]);
    expect(one.stats.overflow.value).to.equal(1);
    const half = detect({ consecutive5xx: 1, maxEjectionPercent: 50 }, 10);
    for (let i = 0; i < 10; i++) half.send(i, 500);
    expect(half.ejected()).to.have.length(5);
    const none = detect({ consecutive5xx: 1, maxEjectionPercent: 0 });
    none.send(0, 500);
    expect(none.ejected()).to.deep.equal([]);
  });

  it('returns a host to service at the first evaluation after its ejection time, which grows', () => {
    const { send, ejected, sweepAt, stats } = detect({ consecutive5xx: 1, baseEjectionTime: '10s' });
    send(0, 500);
    sweepAt(9_999);
    expect(ejected()).to.deep.equal([0]);
    sweepAt(10_000);
    expect(ejected()).to.deep.equal([]);
    expect(stats.active.value).to.equal(0);
    send(0, 500);
    sweepAt(29_999);
    expect(ejected(), 'twice as long').to.deep.equal([0]);
    sweepAt(30_000);
    expect(ejected()).to.deep.equal([]);
  });

  it('ejects for less long after each evaluation without an ejection', () => {
    const { send, ejected, sweepAt } = detect({ consecutive5xx: 1, baseEjectionTime: '10s' });
    send(0, 500);
    sweepAt(10_000);
    sweepAt(11_000);
    send(0, 500);
    sweepAt(21_000);
    expect(ejected()).to.deep.equal([]);
  });

  it('logs why a host was ejected, and why it returned', () => {
    const { send, sweepAt, detector, hosts, logged } = detect({ consecutive5xx: 1, baseEjectionTime: '10s' });
    send(0, 500);
    sweepAt(10_000);
    send(1, 500);
    detector.passedCheck(hosts[1]!);
    expect(logged.map(({ host, msg, type, reason }) => [host, msg, type ?? reason])).to.deep.equal([
      ['127.0.0.1:1000', 'host ejected', 'consecutive5xx'],
      ['127.0.0.1:1000', 'host returned to service', 'ejection time ended'],
      ['127.0.0.1:1001', 'host ejected', 'consecutive5xx'],
      ['127.0.0.1:1001', 'host returned to service', 'active health check passed'],
    ]);
  });

  it('does not return a host whose checks have not passed often enough', () => {
    const { send, ejected, detector, hosts } = detect({ consecutive5xx: 1 });
    send(0, 500);
    hosts[0]!.setFlag('failedActiveHc', true);
    detector.passedCheck(hosts[0]!);
    expect(ejected()).to.deep.equal([0]);
    hosts[0]!.setFlag('failedActiveHc', false);
    detector.passedCheck(hosts[0]!);
    expect(ejected()).to.deep.equal([]);
  });

  it('ejects for longer if a host fails again before an evaluation', () => {
    const { send, ejected, sweepAt, detector, hosts } = detect({ consecutive5xx: 1, baseEjectionTime: '10s' });
    send(0, 500);
    detector.passedCheck(hosts[0]!);
    expect(ejected()).to.deep.equal([]);
    send(0, 500);
    sweepAt(19_999);
    expect(ejected()).to.deep.equal([0]);
    sweepAt(20_000);
    expect(ejected()).to.deep.equal([]);
  });

  it('ejects for at most 300s, or the base ejection time if longer', () => {
    const { send, sweepAt, ejected, detector, hosts } = detect({ consecutive5xx: 1, baseEjectionTime: '200s' });
    for (let i = 0; i < 5; i++) {
      send(0, 500);
      if (i < 4) detector.passedCheck(hosts[0]!);
    }
    sweepAt(299_999);
    expect(ejected()).to.deep.equal([0]);
    sweepAt(300_000);
    expect(ejected()).to.deep.equal([]);
  });

  it('needs all failures again after it returned a host', () => {
    const { send, ejected, detector, hosts } = detect({ consecutive5xx: 3 });
    send(0, 500, 5);
    detector.passedCheck(hosts[0]!);
    send(0, 500, 2);
    expect(ejected()).to.deep.equal([]);
  });

  it('ejects hosts whose success rate is far below the mean', () => {
    const { send, sweepAt, ejected, hosts, stats } = detect({ consecutive5xx: 0, successRateRequestVolume: 10 });
    for (let i = 0; i < 10; i++) {
      send(i, 200, i === 3 ? 5 : 10);
      send(i, 500, i === 3 ? 5 : 0);
    }
    sweepAt(1000);
    expect(ejected()).to.deep.equal([3]);
    expect(hosts[3]!.successRate).to.equal(50);
    expect(hosts[4]!.successRate).to.equal(100);
    expect(stats.enforcedSuccessRate.value).to.equal(1);
    sweepAt(2000);
    expect(hosts[4]!.successRate, 'no requests in the second interval').to.equal(-1);
  });

  it('compares success rates only with enough hosts and requests', () => {
    const few = detect({ consecutive5xx: 0, successRateRequestVolume: 1 }, 4);
    for (let i = 0; i < 4; i++) few.send(i, i === 0 ? 500 : 200, 10);
    few.sweepAt(1000);
    expect(few.ejected()).to.deep.equal([]);
    const quiet = detect({ consecutive5xx: 0 }, 10);
    for (let i = 0; i < 10; i++) quiet.send(i, i === 0 ? 500 : 200, 99);
    quiet.sweepAt(1000);
    expect(quiet.ejected()).to.deep.equal([]);
  });

  it('counts failures of the connection apart if split', () => {
    const { fail, send, ejected, stats } = detect({
      splitExternalLocalOriginErrors: true,
      consecutive5xx: 2,
      consecutiveLocalOriginFailure: 3,
    });
    fail(0, 503, 2);
    expect(ejected()).to.deep.equal([]);
    send(0, 500);
    fail(0, 503, 2);
    expect(ejected(), 'a response ends the failures in a row').to.deep.equal([]);
    fail(0, 504);
    expect(ejected()).to.deep.equal([0]);
    expect(stats.enforcedLocalOriginFailure.value).to.equal(1);
  });

  it('compares the success rates of connections if split', () => {
    const block = {
      splitExternalLocalOriginErrors: true,
      consecutiveLocalOriginFailure: 0,
      successRateRequestVolume: 10,
    };
    const { fail, send, sweepAt, ejected, stats } = detect(block);
    for (let i = 0; i < 10; i++) {
      send(i, 500, i === 7 ? 1 : 3);
      send(i, 200, i === 7 ? 4 : 7);
      if (i === 7) fail(i, 503, 5);
    }
    sweepAt(1000);
    expect(ejected()).to.deep.equal([7]);
    expect(stats.enforcedLocalOriginSuccessRate.value).to.equal(1);
  });

  it('counts the ejected hosts until they are removed, or until it is closed', () => {
    const { detector, send, stats, hosts } = detect({ maxEjectionPercent: 100 });
    for (const i of [0, 1, 2]) send(i, 500, 5);
    send(3, 200);
    expect(stats.active.value).to.equal(3);
    detector.forget(hosts[3]!);
    detector.forget(hosts[4]!);
    expect(stats.active.value).to.equal(3);
    detector.forget(hosts[0]!);
    expect(stats.active.value).to.equal(2);
    detector.close();
    expect(stats.active.value).to.equal(0);
  });

  it('forgets removed hosts', () => {
    const { send, detector, hosts, stats } = detect({ consecutive5xx: 1 });
    send(0, 500);
    detector.forget(hosts[0]!);
    expect(stats.active.value).to.equal(0);
  });
});

describe('success rates', () => {
  it('have the threshold of the mean minus standard deviations', () => {
    expect(outlierThreshold([100, 100, 100, 60], 1)).to.be.closeTo(90 - 17.32, 0.01);
    expect(outlierThreshold([90, 90], 1.9)).to.equal(90);
  });

  it('are -1 below the volume', () => {
    const window = new RequestWindow();
    window.add(true);
    expect(window.close(2)).to.equal(-1);
    expect(window.close(0), 'without any request').to.equal(-1);
  });
});
