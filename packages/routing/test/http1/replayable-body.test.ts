import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { MAX_KEPT_BYTES, ReplayableBody } from '../../src/http1/replayable-body.ts';
import type { BodySink } from '../../src/http1/request-body.ts';
import { until } from '../../../../test/parts/until.ts';

/** A sink that keeps what it receives. */
class Kept implements BodySink {
  text = '';
  isOver = false;

  onChunk(chunk: Buffer): void {
    this.text += chunk.toString();
  }

  onBodyEnd(): void {
    this.isOver = true;
  }

  onBodyError(error: Error): void {
    throw error;
  }
}

describe('a body that can be sent again', () => {
  function bodyOf(limit: number) {
    const source = new PassThrough();
    const message = { headers: {}, httpVersionMajor: 1, rawTrailers: [], complete: false };
    const body = new ReplayableBody(Object.assign(source, message) as unknown as IncomingMessage, () => {}, limit);
    return { source, body };
  }

  it('is sent again from its start, and goes on', async () => {
    const { source, body } = bodyOf(10);
    const first = new Kept();
    body.start(first);
    source.write('ab');
    await until(() => first.text === 'ab');
    body.detach();
    const second = new Kept();
    body.start(second);
    expect(second.text).to.equal('ab');
    source.end('cd');
    await until(() => second.isOver);
    expect(second.text).to.equal('abcd');
    expect(first.text).to.equal('ab');
    const third = new Kept();
    body.start(third);
    expect(third).to.deep.include({ text: 'abcd', isOver: true });
  });

  it('goes on for the next attempt if the one before had paused it', async () => {
    const { source, body } = bodyOf(10);
    const first = new Kept();
    body.start(first);
    source.write('ab');
    await until(() => first.text === 'ab');
    body.pause();
    body.detach();
    const second = new Kept();
    body.start(second);
    source.end('cd');
    await until(() => second.isOver);
    expect(second.text).to.equal('abcd');
  });

  it('is kept up to its limit, and not beyond', async () => {
    for (const [text, isKept] of [
      ['abcd', true],
      ['abcde', false],
    ] as const) {
      const { source, body } = bodyOf(4);
      const sink = new Kept();
      body.start(sink);
      source.end(text);
      await until(() => sink.isOver);
      expect(sink.text).to.equal(text);
      expect(body.replayable, text).to.equal(isKept);
    }
  });

  it('is not kept when all bodies of the process keep too many bytes, until one of them is released', () => {
    // Other bodies of this process may keep a few bytes.
    const spare = Buffer.alloc(1000);
    const half = Buffer.alloc(MAX_KEPT_BYTES / 2 - spare.length);
    const [first, second, third, fourth] = Array.from({ length: 4 }, () => bodyOf(MAX_KEPT_BYTES).body);
    first!.onChunk(half);
    second!.onChunk(half);
    third!.onChunk(Buffer.alloc(4 * spare.length));
    expect([first, second, third].map((body) => body!.replayable)).to.deep.equal([true, true, false]);
    first!.release();
    fourth!.onChunk(spare);
    expect(fourth!.replayable).to.equal(true);
    second!.forget();
    fourth!.release();
    const fifth = bodyOf(MAX_KEPT_BYTES).body;
    fifth.onChunk(half);
    fifth.onChunk(half);
    expect(fifth.replayable).to.equal(true);
    fifth.release();
  });
});
