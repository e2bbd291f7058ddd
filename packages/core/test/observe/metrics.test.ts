import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';

const pathsOf = (metrics: Metrics): string[] => metrics.list().map(({ name }) => name.path);
const name = (path: string) => ({ path, metric: 'requests' });

describe('removed statistics', () => {
  it('are gone, and those of others stay', () => {
    const metrics = createMetrics();
    for (const path of ['cluster.a.x', 'cluster.a.b.x', 'cluster.ab.x', 'listener.a.x']) metrics.counter(name(path));
    metrics.remove('cluster.a.');
    expect(pathsOf(metrics)).to.deep.equal(['cluster.ab.x', 'listener.a.x']);
    metrics.remove('listener');
    expect(pathsOf(metrics)).to.deep.equal(['cluster.ab.x']);
  });

  it('start at zero if they are created again at once', async () => {
    const metrics = createMetrics();
    metrics.counter(name('cluster.a.x')).value = 5;
    metrics.remove('cluster.a.');
    const counter = metrics.counter(name('cluster.a.x'));
    expect(counter.value).to.equal(0);
    await Promise.resolve();
    expect(metrics.counter(name('cluster.a.x'))).to.equal(counter);
  });

  it('stay if they are registered again at once as computed ones', () => {
    const metrics = createMetrics();
    metrics.counter(name('cluster.a.x'));
    metrics.remove('cluster.a.');
    metrics.computed(name('cluster.a.x'), () => 7);
    expect(metrics.list().map(({ stat }) => (stat as { value: number }).value)).to.deep.equal([7]);
  });

  it('are gone from Prometheus with their family', async () => {
    const metrics = createMetrics();
    metrics.counter(name('cluster.a.x'));
    metrics.remove('cluster.a.');
    expect(await metrics.registry.metrics()).not.to.contain('requests');
  });

  it('take one pass for thousands of prefixes', () => {
    const metrics = createMetrics();
    for (let i = 0; i < 4_000; i++) for (let n = 0; n < 20; n++) metrics.counter(name(`cluster.c${i}.s${n}`));
    const before = process.cpuUsage();
    for (let i = 0; i < 4_000; i++) metrics.remove(`cluster.c${i}.`);
    expect(pathsOf(metrics)).to.deep.equal([]);
    const { user } = process.cpuUsage(before);
    // One pass for each prefix takes 10 s.
    expect(user / 1e6).to.be.lessThan(2);
  });
});
