import { expect } from 'chai';
import { createCached } from '../../src/provider/cached.ts';

describe('a cached value', () => {
  let time = 1;
  let calls = 0;
  let fails = false;
  beforeEach(() => {
    time = 1;
    calls = 0;
    fails = false;
  });
  const create = () =>
    createCached(
      async () => {
        calls++;
        if (fails) throw new Error(`failure ${calls}`);
        return { number: calls };
      },
      { maxAgeMs: 60_000, now: () => time },
    );
  const outcomeOf = (value: Promise<object>): Promise<object | string> => value.catch((error: Error) => error.message);

  it('is fetched once for concurrent callers', async () => {
    const get = create();
    expect(await Promise.all([get(), get()])).to.deep.equal([{ number: 1 }, { number: 1 }]);
  });

  it('is fetched at most once a second after a failure, and callers receive this failure', async () => {
    fails = true;
    const get = create();
    expect(await outcomeOf(get())).to.equal('failure 1');
    time = 1000;
    expect(await outcomeOf(get())).to.equal('failure 1');
    fails = false;
    time = 1001;
    expect(await get()).to.deep.equal({ number: 2 });
  });

  it('stays available when it is too old and the fetch fails', async () => {
    const get = create();
    await get();
    fails = true;
    time = 60_002;
    expect(await get()).to.deep.equal({ number: 1 });
    expect(await get()).to.deep.equal({ number: 1 });
    expect(calls).to.equal(2);
  });
});

describe('the age of a cached value', () => {
  const start = 1_700_000_000_000;
  let clock: number;
  let fetches: number;
  let fails: boolean;

  const cached = (maxAgeMs: number) =>
    createCached(
      async () => {
        fetches++;
        if (fails) throw new Error('down');
        return { fetches };
      },
      { maxAgeMs, now: () => clock },
    );

  beforeEach(() => {
    clock = start;
    fetches = 0;
    fails = false;
  });

  for (const maxAgeMs of [0, 0.5, 1000.5]) {
    it(`is fetched again after ${maxAgeMs} ms`, async () => {
      const get = cached(maxAgeMs);
      await get();
      clock += Math.ceil(maxAgeMs) + 2;
      await get();
      await get();
      expect(fetches).to.equal(2);
    });
  }

  it('is not fetched again at once after a failure, unless the clock was set back', async () => {
    const get = cached(60_000);
    fails = true;
    const outcome = () => get().then(String, (error: Error) => error.message);
    expect(await outcome()).to.equal('down');
    expect(await outcome()).to.equal('down');
    expect(fetches).to.equal(1);
    fails = false;
    clock -= 3_600_000;
    expect(await get()).to.deep.equal({ fetches: 2 });
  });
});
