import { expect } from 'chai';
import { frameOf, messagesOf } from '../../src/transcode/frames.ts';
import { elementsOf } from '../../src/transcode/json-array.ts';

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

async function texts(parts: AsyncIterable<Buffer>): Promise<string[]> {
  const found: string[] = [];
  for await (const part of parts) found.push(part.toString());
  return found;
}

/** Returns the message of what a stream throws. */
async function failure(parts: AsyncIterable<Buffer>): Promise<string> {
  return texts(parts).then(
    () => '',
    (error: Error) => error.message,
  );
}

const SIZES = [1, 2, 3, 7, 1000];

describe('frames of gRPC', () => {
  const written = ['', 'a', 'hello', 'x'.repeat(300)];
  const bytes = Buffer.concat(written.map((text) => frameOf(Buffer.from(text))));

  for (const size of SIZES) {
    it(`are read in pieces of ${size} bytes`, async () => {
      expect(await texts(messagesOf(cut(bytes, size), 300))).to.deep.equal(written);
    });
  }

  it('are rejected if they are too large, compressed or incomplete', async () => {
    const of = (...parts: number[]) => failure(messagesOf(cut(Buffer.from(parts), 3), 10));
    expect(await of(0, 0, 0, 0, 11, 1)).to.equal('invalid gRPC response: a message has 11 bytes, more than 10');
    expect(await of(0, 255, 255, 255, 255)).to.contain('more than 10');
    expect(await of(1, 0, 0, 0, 1, 1)).to.equal('invalid gRPC response: a message is compressed');
    for (const parts of [[0], [0, 0, 0, 0], [0, 0, 0, 0, 2, 1]])
      expect(await of(...parts)).to.equal('invalid gRPC response: the last message is incomplete');
  });
});

describe('elements of a JSON array', () => {
  const text = ' [ {"a": "],[\\"{"} ,[1,[2]], "x,\\\\" , 3,{}] \n';
  const elements = [' {"a": "],[\\"{"} ', '[1,[2]]', ' "x,\\\\" ', ' 3', '{}'];

  for (const size of SIZES) {
    it(`are read in pieces of ${size} bytes`, async () => {
      expect(await texts(elementsOf(cut(Buffer.from(text), size), 100))).to.deep.equal(elements);
    });
  }

  it('are none of an empty array and an empty body', async () => {
    for (const body of ['[]', ' [ ] ', '', '  '])
      expect(await texts(elementsOf(cut(Buffer.from(body), 1), 9))).to.deep.equal([]);
  });

  const rejected: Readonly<Record<string, string>> = {
    '{}': 'the body must be a JSON array of messages',
    '[{}] x': 'the body must be a JSON array of messages',
    '[{}][]': 'the body must be a JSON array of messages',
    '[{}': 'the array is not closed',
    '["a]': 'the array is not closed',
    '[,]': 'an element of the array is empty',
    '[1,]': 'an element of the array is empty',
    '[1,,2]': 'an element of the array is empty',
  };
  for (const [body, reason] of Object.entries(rejected)) {
    it(`are rejected in ${body}`, async () => {
      expect(await failure(elementsOf(cut(Buffer.from(body), 2), 9))).to.equal(`invalid request: ${reason}`);
    });
  }

  it('are bounded', async () => {
    expect(await failure(elementsOf(cut(Buffer.from(`[1,"${'x'.repeat(20)}"]`), 4), 9))).to.contain(
      'larger than allowed',
    );
    expect(await failure(elementsOf(cut(Buffer.from(`[${' '.repeat(1000)}`), 4), 9))).to.contain('larger than allowed');
  });
});
