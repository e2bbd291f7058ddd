import { expect } from 'chai';
import { createInFlight } from '@edge-gateway/rate-limit';

const slot = (key: string, maxInFlight: number) => ({ key, maxInFlight });

describe('requests in flight', () => {
  it('are at most the maximum per key', () => {
    const inFlight = createInFlight();
    const first = inFlight.acquire([slot('a', 2)])!;
    expect(inFlight.acquire([slot('a', 2)])).to.be.a('function');
    expect(inFlight.acquire([slot('a', 2)])).to.equal(undefined);
    expect(inFlight.acquire([slot('b', 2)])).to.be.a('function');
    first();
    expect(inFlight.acquire([slot('a', 2)])).to.be.a('function');
    expect(inFlight.acquire([slot('a', 2)])).to.equal(undefined);
  });

  it('are released once, however often the function is called', () => {
    const inFlight = createInFlight();
    const first = inFlight.acquire([slot('a', 2)])!;
    const second = inFlight.acquire([slot('a', 2)])!;
    first();
    first();
    expect(inFlight.acquire([slot('a', 2)])).to.be.a('function');
    expect(inFlight.acquire([slot('a', 2)])).to.equal(undefined);
    second();
    first();
    expect(inFlight.acquire([slot('a', 2)])).to.be.a('function');
    expect(inFlight.acquire([slot('a', 2)])).to.equal(undefined);
  });

  it('are added to all keys or to none', () => {
    const inFlight = createInFlight();
    const release = inFlight.acquire([slot('full', 1)])!;
    expect(inFlight.acquire([slot('a', 1), slot('full', 1), slot('b', 1)])).to.equal(undefined);
    expect(inFlight.size).to.equal(1);
    release();
    expect(inFlight.size).to.equal(0);
    inFlight.acquire([slot('a', 1), slot('full', 1), slot('b', 1)])!();
    expect(inFlight.size).to.equal(0);
  });

  it('count a key twice if a request has it twice', () => {
    const inFlight = createInFlight();
    expect(inFlight.acquire([slot('a', 1), slot('a', 1)])).to.equal(undefined);
    expect(inFlight.size).to.equal(0);
    inFlight.acquire([slot('a', 2), slot('a', 2)])!();
    expect(inFlight.size).to.equal(0);
  });

  it('are none with a maximum of 0, and unlimited without keys', () => {
    const inFlight = createInFlight();
    expect(inFlight.acquire([slot('a', 0)])).to.equal(undefined);
    expect(inFlight.acquire([])).to.be.a('function');
  });
});
