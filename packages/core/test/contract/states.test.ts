import { expect } from 'chai';
import { createContext } from '../../src/index.ts';
import { createStates } from '../../src/contract/states.ts';

const MINUTE = 60_000;

describe('state across reloads', () => {
  let now = 0;
  beforeEach(() => {
    now = 0;
  });
  const clock = (): number => now;

  it('is created once and shared by all holders', () => {
    const states = createStates(clock);
    const value = states.hold().state('a', () => ({}));
    expect(states.hold().state('a', () => ({}))).to.equal(value);
    expect(states.state('a', () => ({}))).to.equal(value);
  });

  it('stays bounded over 200 reloads that change it, and keeps unchanged entries', () => {
    const states = createStates(clock);
    let made = 0;
    let before = states.hold();
    const unchanged = before.state('unchanged', () => ({}));
    for (let i = 0; i < 200; i++) {
      now += MINUTE;
      const next = states.hold();
      next.state(`changing ${i}`, () => made++);
      expect(next.state('unchanged', () => ({}))).to.equal(unchanged);
      before.release();
      before = next;
    }
    expect(made).to.equal(200);
    expect(states.size).to.be.at.most(12);
  });

  it('stays bounded when all reloads happen at once', () => {
    const states = createStates(clock);
    for (let i = 0; i < 2000; i++) {
      const hold = states.hold();
      hold.state(`changing ${i}`, () => i);
      hold.release();
    }
    expect(states.size).to.equal(256);
  });

  it('is reused by a configuration that returns within ten minutes', () => {
    const states = createStates(clock);
    const first = states.hold();
    const value = first.state('a', () => ({}));
    first.release();
    now += 9 * MINUTE;
    const second = states.hold();
    expect(second.state('a', () => ({}))).to.equal(value);
    now += 60 * MINUTE;
    states.hold().release();
    expect(second.state('a', () => ({}))).to.equal(value);
  });

  it('is removed after the release of its last holder', () => {
    const states = createStates(clock);
    const [first, second] = [states.hold(), states.hold()];
    const value = first.state('a', () => ({}));
    second.state('a', () => ({}));
    first.release();
    first.release();
    now += 11 * MINUTE;
    states.hold().release();
    expect(second.state('a', () => ({}))).to.equal(value);
    second.release();
    now += 11 * MINUTE;
    states.hold().release();
    expect(states.size).to.equal(0);
  });

  it('is not held after a release', () => {
    const states = createStates(clock);
    const late = states.hold();
    late.release();
    late.state('a', () => ({}));
    now += 11 * MINUTE;
    states.hold().release();
    expect(states.size).to.equal(0);
  });

  it('is kept for the lifetime of its context without a holder', () => {
    const context = createContext({ now: clock });
    const value = context.state('a', () => ({}));
    now += 60 * MINUTE;
    context.holdStates!().release();
    expect(context.state('a', () => ({}))).to.equal(value);
  });
});
