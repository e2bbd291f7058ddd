import {
  createContext,
  DEFAULT_SNAPSHOT_SETTINGS,
  type Concern,
  type Handler,
  type Listener,
} from '@edge-gateway/core';
import { expect } from 'chai';
import { compileUnrouted } from '../../../src/route/compile/unrouted.ts';

const source = { name: 'a', httpOptions: { httpLocalRatelimit: {} }, options: {} } as unknown as Listener;
const handler: Handler = (_req, _res, next) => next();

function unrouted(compile: Concern['compileUnrouted'], option = 'httpLocalRatelimit', context = createContext()) {
  const base: Concern = { name: 'a', option, stage: 'localRateLimit', compile: () => undefined };
  const concerns = [{ ...base, ...(compile && { compileUnrouted: compile }) }];
  return compileUnrouted({ source, shared: DEFAULT_SNAPSHOT_SETTINGS, concerns, context });
}

describe('the concerns of requests without a route', () => {
  it('are those that compile a block of the listener for them', () => {
    expect(unrouted(() => handler)?.plan.chain).to.deep.equal([handler]);
    expect(unrouted(() => undefined)).to.equal(undefined);
    expect(unrouted(undefined)).to.equal(undefined);
    expect(unrouted(() => handler, 'csrf')).to.equal(undefined);
  });

  it('reject every request if one cannot be compiled', () => {
    const failure = new Error('invalid');
    const fail = (): never => {
      throw failure;
    };
    const received: unknown[] = [];
    unrouted(fail)!.plan.chain[0]!({} as never, {} as never, (error) => received.push(error));
    expect(received).to.deep.equal([failure]);
  });

  it('hold their state until they are released', () => {
    let now = 0;
    let created = 0;
    const context = createContext({ now: () => now });
    const compile = () => {
      return unrouted(
        (_block, { state }) => (state('bucket', () => ++created), handler),
        'httpLocalRatelimit',
        context,
      )!;
    };
    const first = compile();
    now = 1_000_000;
    compile().release();
    expect(created, 'held').to.equal(1);
    first.release();
    now = 2_000_000;
    compile().release();
    expect(created, 'kept for a configuration that returns').to.equal(1);
    now = 3_000_000;
    context.holdStates!().release();
    compile().release();
    expect(created, 'removed').to.equal(2);
  });
});
