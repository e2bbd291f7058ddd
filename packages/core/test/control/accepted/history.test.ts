import { expect } from 'chai';
import { createHistory } from '../../../src/control/accepted/history.ts';
import type { Problem } from '../../../src/resource/problem.ts';
import { keyOf, type ResourceKey } from '../../../src/resource/resource.ts';
import type { StoredResource, StoreState } from '../../../src/resource/stored.ts';

const key = (name: string): ResourceKey => keyOf('VirtualService', { namespace: 'gw-system', name });
/** A state with these resources; only their keys matter here. */
const state = (...names: string[]): StoreState['stored'] =>
  new Map(names.map((name) => [key(name), {} as StoredResource]));
const problem = (name: string, more: Partial<Problem> = {}): Problem => ({
  code: 'INVALID',
  severity: 'error',
  kind: 'VirtualService',
  namespace: 'gw-system',
  name,
  message: 'broken',
  path: [],
  origin: { file: 'a.yaml', line: 1, column: 1 },
  ...more,
});

describe('the history of accepted states', () => {
  it('is empty at first', () => {
    expect(createHistory().states).to.deep.equal([]);
  });

  it('is the newest state without problems', () => {
    const history = createHistory();
    const newest = state('a', 'b');
    history.add(state('a'), []);
    history.add(newest, []);
    expect(history.states).to.have.ordered.members([newest]);
  });

  it('keeps the state before a problem until the problem is solved, and none in between', () => {
    const history = createHistory();
    const [good, broken, other, repaired] = [state('a'), state('a'), state('a', 'b'), state('a', 'b')];
    history.add(good, []);
    history.add(broken, [problem('a')]);
    expect(history.states).to.have.ordered.members([good, broken]);
    history.add(other, [problem('a')]);
    expect(history.states).to.have.ordered.members([good, other]);
    history.add(repaired, []);
    expect(history.states).to.have.ordered.members([repaired]);
  });

  it('keeps a state as long as one of several problems lasts', () => {
    const history = createHistory();
    const [good, broken, half] = [state('a', 'b'), state('a', 'b'), state('a', 'b')];
    history.add(good, []);
    history.add(broken, [problem('a'), problem('b')]);
    history.add(half, [problem('b')]);
    expect(history.states).to.have.ordered.members([good, half]);
  });

  it('keeps no state for a resource that was invalid from the start', () => {
    const history = createHistory();
    const [before, now] = [state('a'), state('a', 'b')];
    history.add(before, []);
    history.add(now, [problem('b')]);
    expect(history.states).to.have.ordered.members([now]);
  });

  it('keeps a state for a problem of what is not stored, such as a generated resource', () => {
    const history = createHistory();
    const [before, now] = [state('a'), state('a')];
    history.add(before, []);
    history.add(now, [problem('generated')]);
    expect(history.states).to.have.ordered.members([before, now]);
  });

  it('keeps no state for warnings, but for broken references', () => {
    const warning = { severity: 'warning', code: 'DEPRECATED' } as Partial<Problem>;
    const reference = { severity: 'warning', code: 'MISSING_REFERENCE' } as Partial<Problem>;
    const [before, now] = [state('a'), state('a')];
    const kept = [warning, reference].map((more) => {
      const history = createHistory();
      history.add(before, []);
      history.add(now, [problem('a', more)]);
      return history.states.length;
    });
    expect(kept).to.deep.equal([1, 2]);
  });

  it('forgets the oldest of more than 64 states', () => {
    const history = createHistory();
    const names = Array.from({ length: 66 }, (_, i) => `r${i}`);
    const states = [...names, 'last'].map(() => state(...names));
    for (const [i, each] of states.entries())
      history.add(
        each,
        names.slice(0, i).map((name) => problem(name)),
      );
    expect(history.states).to.have.ordered.members(states.slice(2));
  });
});
