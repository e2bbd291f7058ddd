import { Writable } from 'node:stream';
import { expect } from 'chai';
import type { Io } from '../../src/io.ts';
import { createTerminal } from '../../src/output/terminal.ts';

/** A terminal of so many columns that keeps what it is sent. */
function terminalOf(columns: number | undefined, more: Partial<Io> = {}) {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          printed[name] += String(chunk);
          done();
        },
      }),
      { columns, isTTY: true, clearLine: () => true, cursorTo: () => true, moveCursor: () => true },
    );
  const io: Io = { stdout: stream('stdout'), stderr: stream('stderr'), env: {}, isTTY: true, cwd: '/', ...more };
  return { terminal: createTerminal(io), printed };
}

describe('terminal', () => {
  it('shows a progress line on standard error during the work, and returns its result', async () => {
    const { terminal, printed } = terminalOf(80);
    expect(await terminal.progress('Reading', async () => 7)).to.equal(7);
    expect(printed.stderr).to.contain('Reading');
    expect(printed.stdout).to.equal('');
  });

  it('passes on what fails', async () => {
    const { terminal } = terminalOf(80);
    const error = await terminal
      .progress('Reading', async () => {
        throw new Error('no');
      })
      .catch((caught: Error) => caught);
    expect(error).to.have.property('message', 'no');
  });

  it('shows no progress line without a terminal, or in a terminal with zero columns', async () => {
    for (const { terminal, printed } of [terminalOf(80, { isTTY: false }), terminalOf(0), terminalOf(undefined)]) {
      await terminal.progress('Reading', async () => 7);
      expect(printed.stderr).to.equal('');
    }
  });

  it('ends each text with exactly one line break', () => {
    const { terminal, printed } = terminalOf(80);
    terminal.out('a');
    terminal.out('b\n');
    terminal.err('c');
    expect(printed).to.deep.equal({ stdout: 'a\nb\n', stderr: 'c\n' });
  });
});
