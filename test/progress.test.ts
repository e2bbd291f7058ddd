import { mock } from 'node:test';
import { expect } from 'chai';
// @ts-expect-error The scripts have no types.
import { showProgress } from '../scripts/progress.mjs';

describe('the progress of a step', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval', 'Date'] }));
  afterEach(() => mock.timers.reset());

  /** A stream that keeps what is written. */
  function stream(terminal: object) {
    const written: string[] = [];
    return { written, write: (text: string) => written.push(text), ...terminal };
  }

  it('is a plain line every 10 s where output is no terminal, with a counter', () => {
    const output = stream({});
    const progress = showProgress('installing', output);
    mock.timers.tick(10_000);
    progress.update('12 packages');
    mock.timers.tick(10_000);
    progress.end();
    mock.timers.tick(60_000);
    expect(output.written).to.deep.equal(['  installing, 10 s\n', '  installing: 12 packages, 20 s\n']);
  });

  it('is one line in a terminal that changes, fits, and disappears', () => {
    const output = stream({ isTTY: true, columns: 24 });
    const progress = showProgress('installing', output);
    progress.update('1234 packages');
    mock.timers.tick(250);
    progress.end();
    expect(output.written).to.deep.equal(['\r  installing: 1234 pack\x1b[K', '\r\x1b[K']);
  });

  it('shows nothing for a short step', () => {
    const output = stream({});
    const progress = showProgress('installing', output);
    mock.timers.tick(500);
    progress.end();
    expect(output.written).to.deep.equal([]);
  });
});
