import { expect } from 'chai';
import { createLineBuffer } from '../../src/observe/recent-lines.ts';
import { createLoggers } from '../../src/index.ts';

describe('recent lines', () => {
  it('keeps the newest lines, oldest first', () => {
    const buffer = createLineBuffer({ maxLines: 3 });
    expect(buffer.lines()).to.deep.equal([]);
    for (const line of ['a\n', 'b', 'c\n', 'd\n', 'e\n']) buffer.write(line);
    expect(buffer.lines()).to.deep.equal(['c', 'd', 'e']);
  });

  it('keeps at most its maximum number of characters', () => {
    const buffer = createLineBuffer({ maxLines: 100, maxLength: 10, maxLineLength: 6 });
    for (const line of ['aaaa', 'bbbb', 'cccc']) buffer.write(line);
    expect(buffer.lines()).to.deep.equal(['bbbb', 'cccc']);
    buffer.write('d'.repeat(1_000_000));
    expect(buffer.lines()).to.deep.equal(['cccc', 'ddddd…']);
  });

  it('keeps its bounds over a hundred thousand lines', () => {
    const buffer = createLineBuffer();
    for (let i = 0; i < 100_000; i++) buffer.write(`${i} ${'x'.repeat(i % 5_000)}`);
    const lines = buffer.lines();
    expect(lines.at(-1)).to.match(/^99999 /);
    expect(lines).to.have.length.of.at.most(1_000);
    expect(lines.join('').length).to.be.within(1_000_000, 1_048_576);
  });

  it('calls back with each new line until unsubscribed', () => {
    const buffer = createLineBuffer();
    const seen: string[] = [];
    buffer.write('before\n');
    const end = buffer.subscribe((line) => seen.push(line));
    buffer.write('one\n');
    end();
    buffer.write('two\n');
    expect(seen).to.deep.equal(['one']);
  });
});

describe('recent lines of loggers', () => {
  const written: string[] = [];
  const log = createLoggers({ destination: { write: (line: string) => void written.push(line) } });

  it('are the written lines', () => {
    log.get('router').info({ route: 'a' }, 'said');
    expect(log.recent?.lines().map((line) => `${line}\n`)).to.deep.equal(written);
    expect(log.recent?.lines()).to.have.length(1);
  });

  it('contain no secret', () => {
    log.get('main').info({ token: 'MARKER', upstream: { host: 'redis://user:MARKER@redis:6379' } }, 'said');
    expect(log.recent?.lines().at(-1)).to.contain('redacted').and.not.contain('MARKER');
  });
});
