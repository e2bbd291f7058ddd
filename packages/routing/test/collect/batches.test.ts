import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { createBatches, type BatchParts } from '../../src/collect/batches.ts';

describe('batches', () => {
  const partsOf = (parts: Partial<BatchParts<number>> = {}) => {
    const sent: number[][] = [];
    const reasons: string[] = [];
    const dropped = { value: 0 };
    const batches = createBatches<number>({
      send: (items) => {
        sent.push([...items]);
        return Promise.resolve();
      },
      dropped,
      onFailure: (reason) => reasons.push(reason),
      maxQueued: 5,
      batchSize: 3,
      intervalMs: 60_000,
      ...parts,
    });
    return { batches, sent, dropped, reasons };
  };

  it('sends full batches at once, and the rest after the interval', async () => {
    const { batches, sent } = partsOf({ intervalMs: 1 });
    for (const item of [1, 2, 3, 4]) batches.add(item);
    await until(() => sent.length >= 2);
    expect(sent).to.deep.equal([[1, 2, 3], [4]]);
  });

  it('drops and counts what does not fit', async () => {
    let release = (): void => {};
    const sent: number[][] = [];
    const { batches, dropped } = partsOf({
      send: (items) => {
        sent.push([...items]);
        return new Promise((resolve) => (release = resolve));
      },
    });
    for (let item = 0; item < 10; item++) batches.add(item);
    expect(dropped.value).to.equal(2);
    const flushed = batches.flush(1_000);
    while (sent.length < 3) {
      release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    release();
    await flushed;
    expect(sent.flat()).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('drops a batch that cannot be sent, and reports the first failure of a series', async () => {
    const { batches, dropped, reasons } = partsOf({ send: () => Promise.reject(new Error('gone')) });
    for (const item of [1, 2, 3]) batches.add(item);
    await batches.flush(1_000);
    batches.add(4);
    await batches.flush(1_000);
    expect(dropped.value).to.equal(4);
    expect(reasons).to.deep.equal(['gone']);
  });

  it('gives up flushing after its limit', async () => {
    const { batches, dropped } = partsOf({ send: () => new Promise(() => {}) });
    for (const item of [1, 2, 3, 4]) batches.add(item);
    await batches.flush(5);
    expect(dropped.value).to.equal(1);
  });
});
