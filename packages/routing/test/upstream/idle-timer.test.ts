import { mock } from 'node:test';
import { expect } from 'chai';
import { IdleTimer } from '../../src/upstream/idle-timer.ts';

describe('the timer of an idle connection', () => {
  let now = 0;
  let idle = 0;

  beforeEach(() => {
    now = 1000;
    idle = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  function pass(ms: number): void {
    now += ms;
    mock.timers.tick(ms);
  }

  const created = (limitMs: number): IdleTimer => new IdleTimer(limitMs, () => idle++);

  it('reports a connection that was idle for the whole time, once', () => {
    created(100).begin();
    pass(99);
    expect(idle).to.equal(0);
    pass(1);
    pass(1000);
    expect(idle).to.equal(1);
  });

  it('counts from the last begin, and not while the connection is in use', () => {
    const timer = created(100);
    timer.begin();
    pass(60);
    timer.end();
    timer.begin();
    pass(99);
    expect(idle).to.equal(0);
    pass(1);
    expect(idle).to.equal(1);
    timer.begin();
    timer.end();
    pass(500);
    expect(idle).to.equal(1);
  });

  it('takes a shorter limit from the next begin on, also with a timer that runs', () => {
    const timer = created(10_000);
    timer.begin();
    timer.end();
    timer.limit(100);
    timer.begin();
    pass(99);
    expect(idle).to.equal(0);
    pass(1);
    expect(idle).to.equal(1);
  });

  it('ignores a longer limit', () => {
    const timer = created(100);
    timer.limit(200);
    timer.begin();
    pass(100);
    expect(idle).to.equal(1);
  });

  it('keeps its running timer for an equal limit', () => {
    const timer = created(100);
    timer.begin();
    timer.limit(100);
    pass(100);
    expect(idle).to.equal(1);
  });

  it('never reports after it was stopped', () => {
    const timer = created(100);
    timer.begin();
    timer.stop();
    pass(1000);
    expect(idle).to.equal(0);
    const shortened = created(10_000);
    shortened.begin();
    shortened.limit(100);
    shortened.stop();
    pass(20_000);
    expect(idle).to.equal(0);
  });

  it('allows no idle connections with a limit of 0', () => {
    expect([created(0).allows, created(1).allows]).to.deep.equal([false, true]);
  });
});
