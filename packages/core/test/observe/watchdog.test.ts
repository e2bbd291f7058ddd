import { expect } from 'chai';
import { createLoggers, createMetrics, createWatchdog } from '../../src/index.ts';
import { until } from '../../../../test/parts/until.ts';

describe('watchdog', () => {
  it('counts a blocked event loop once, and logs it from a second on', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(JSON.parse(line)) } }).get('main');
    const metrics = createMetrics();
    let time = 0;
    let delay = 0;
    let checks = -1;
    const now = (): number => {
      checks++;
      time += 100 + delay;
      delay = 0;
      return time;
    };
    const watchdog = createWatchdog({ metrics, log, thread: 'workers', now });
    const counts = (): number[] =>
      ['watchdog_miss', 'watchdog_mega_miss'].map(
        (name) => metrics.counter({ path: `workers.${name}`, metric: `envoy_workers_${name}` }).value,
      );
    async function nextCheck(): Promise<void> {
      const before = checks;
      await until(() => checks > before);
    }
    await nextCheck();
    expect(counts()).to.deep.equal([0, 0]);
    delay = 199;
    await nextCheck();
    expect(counts()).to.deep.equal([0, 0]);
    delay = 200;
    await nextCheck();
    await nextCheck();
    expect(counts()).to.deep.equal([1, 0]);
    expect(lines).to.deep.equal([]);
    delay = 1_000;
    await nextCheck();
    await nextCheck();
    watchdog.close();
    expect(counts()).to.deep.equal([2, 1]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ msg: 'event loop was blocked', blockedMs: 1_000 });
  });
});
