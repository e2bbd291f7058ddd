import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { factsOf, type Facts } from '../../src/index.ts';
import { SESSION_CHECK_MS, watchAuthentication } from '../../src/contract/watch-authentication.ts';

const NOW = 1_800_000_000_000;
const inSeconds = (seconds: number): { exp: number } => ({ exp: NOW / 1000 + seconds });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the authentication of an open connection', () => {
  let facts: Facts;
  let ends: string[];
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    facts = factsOf(new IncomingMessage(new Socket()));
    ends = [];
  });
  afterEach(() => mock.timers.reset());

  const watch = (outlivesSessionTokens = false): (() => void) =>
    watchAuthentication(facts, { now: () => NOW, outlivesSessionTokens }, (reason) => ends.push(reason));
  const identify = (claims: object): void => {
    facts.identity = { provider: 'me', claims: { ...claims }, groups: [] };
  };
  /** Passes the time of a check, and waits for its result. */
  async function check(): Promise<void> {
    mock.timers.tick(SESSION_CHECK_MS);
    await settled();
  }

  it('ends when the token of the identity expires', () => {
    identify(inSeconds(10));
    watch();
    mock.timers.tick(9999);
    expect(ends).to.deep.equal([]);
    mock.timers.tick(1);
    expect(ends).to.deep.equal(['expired']);
  });

  it('ends when the first of several tokens expires', () => {
    identify(inSeconds(600));
    facts.claims.set('one', inSeconds(20));
    facts.claims.set('other', inSeconds(300));
    watch();
    mock.timers.tick(20_000);
    expect(ends).to.deep.equal(['expired']);
    mock.timers.tick(600_000);
    expect(ends).to.deep.equal(['expired']);
  });

  it('ends at once if the token expired within the tolerated clock difference', () => {
    facts.claims.set('me', inSeconds(-30));
    watch();
    mock.timers.tick(0);
    expect(ends).to.deep.equal(['expired']);
  });

  it('has no end without a token that expires', () => {
    facts.claims.set('me', { exp: 'soon' });
    watch();
    mock.timers.tick(1_000_000_000);
    expect(ends).to.deep.equal([]);
  });

  it('ends at the first check after its session has ended, once', async () => {
    let isOpen = true;
    let checks = 0;
    facts.isSessionOpen = async () => (checks++, isOpen);
    watch();
    await check();
    expect([checks, ends]).to.deep.equal([1, []]);
    isOpen = false;
    await check();
    expect(ends).to.deep.equal(['ended']);
    await check();
    expect([checks, ends]).to.deep.equal([2, ['ended']]);
  });

  it('goes on while the session store is unavailable', async () => {
    let isDown = true;
    facts.isSessionOpen = () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(false));
    watch();
    await check();
    expect(ends).to.deep.equal([]);
    isDown = false;
    await check();
    expect(ends).to.deep.equal(['ended']);
  });

  it('is not checked again before a slow check has ended', async () => {
    let checks = 0;
    let respond = (_isOpen: boolean): void => {};
    facts.isSessionOpen = () => (checks++, new Promise((resolve) => (respond = resolve)));
    watch();
    await check();
    await check();
    expect(checks).to.equal(1);
    respond(true);
    await settled();
    await check();
    expect(checks).to.equal(2);
  });

  it('is no longer watched once its connection is closed', async () => {
    identify(inSeconds(40));
    let checks = 0;
    facts.isSessionOpen = async () => (checks++, false);
    const stop = watch();
    stop();
    await check();
    await check();
    expect([checks, ends]).to.deep.equal([0, []]);
  });

  it('is not ended by a slow check after its connection is closed', async () => {
    let respond = (_isOpen: boolean): void => {};
    facts.isSessionOpen = () => new Promise((resolve) => (respond = resolve));
    const stop = watch();
    await check();
    stop();
    respond(false);
    await settled();
    expect(ends).to.deep.equal([]);
  });

  it('outlives the tokens of a session that renews them, if they are not used again', () => {
    identify(inSeconds(10));
    facts.isSessionOpen = async () => true;
    watch(true);
    mock.timers.tick(20_000);
    expect(ends).to.deep.equal([]);
    facts.isSessionOpen = undefined;
    watch(true);
    mock.timers.tick(20_000);
    expect(ends).to.deep.equal(['expired']);
  });
});
