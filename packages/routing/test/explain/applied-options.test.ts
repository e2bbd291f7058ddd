import { expect } from 'chai';
import { appliedOptions } from '../../src/explain/applied-options.ts';
import { hostOf, routeOf, snapshotOf } from '../snapshots.ts';

const buffer = { maxRequestBytes: 64 };
const csrf = { filterEnabled: { defaultValue: { numerator: 100 } } };

describe('applied options', () => {
  it('show csrf and the buffer of the listener, unless a more specific level replaces it', () => {
    const shown = (options: object) => {
      const route = routeOf({ options });
      const host = hostOf([route]);
      const [listener] = snapshotOf([host], [], { httpOptions: { csrf, buffer } }).listeners;
      return appliedOptions(listener!, host, route).map(({ option, from, applies }) => [option, from, applies]);
    };
    expect(shown({})).to.deep.equal([
      ['csrf', 'listener', true],
      ['bufferPerRoute', 'listener', true],
    ]);
    expect(shown({ csrf: {} })).to.deep.equal([
      ['csrf', 'route', true],
      ['csrf', 'listener', false],
      ['bufferPerRoute', 'listener', true],
    ]);
  });
});
