import { expect } from 'chai';
import { elementsOf } from '../../src/transcode/json-array.ts';

async function* chunksOf(parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part);
}

/** Returns the elements, or the message of the error after those that were complete before it. */
async function read(parts: readonly string[], maxBytes = 100): Promise<readonly string[]> {
  const read: string[] = [];
  try {
    for await (const element of elementsOf(chunksOf(parts), maxBytes)) read.push(element.toString());
  } catch (error) {
    read.push((error as Error).message);
  }
  return read;
}

const INVALID = 'invalid request: ';
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  [' [] ', []],
  ['[ \t\r\n]', []],
  ['[1]', ['1']],
  ['[1,2]\n', ['1', '2']],
  ['[{"a":[1,{"b":2}]},[3,[4]]]', ['{"a":[1,{"b":2}]}', '[3,[4]]']],
  ['["a,]}","\\"],[","\\\\"]', ['"a,]}"', '"\\"],["', '"\\\\"']],
  ['["é",{"日":"本"}]', ['"é"', '{"日":"本"}']],
  ['[1,]', ['1', `${INVALID}an element of the array is empty`]],
  ['[,1]', [`${INVALID}an element of the array is empty`]],
  ['[1, ,2]', ['1', `${INVALID}an element of the array is empty`]],
  ['[1', [`${INVALID}the array is not closed`]],
  ['["]', [`${INVALID}the array is not closed`]],
  ['[[]', [`${INVALID}the array is not closed`]],
  ['{}', [`${INVALID}the body must be a JSON array of messages`]],
  ['[1]2', ['1', `${INVALID}the body must be a JSON array of messages`]],
  ['[1][2]', ['1', `${INVALID}the body must be a JSON array of messages`]],
];

describe('elements of a JSON array', () => {
  for (const [body, expected] of CASES) {
    it(`are the same however the body is split: ${JSON.stringify(body)}`, async () => {
      expect(await read([body])).to.deep.equal(expected);
      for (let i = 1; i < body.length; i++) {
        expect(await read([body.slice(0, i), body.slice(i)]), `split at ${i}`).to.deep.equal(expected);
      }
      expect(await read([...body]), 'character by character').to.deep.equal(expected);
    });
  }

  it('may be as long as the limit, each', async () => {
    expect(await read(['["12345678",', '"1234', '5678"]'], 10)).to.deep.equal(['"12345678"', '"12345678"']);
    const [first, error] = await read(['[1,"123456789"]'], 10);
    expect(first).to.equal('1');
    expect(error).to.match(/too large|larger/i);
  });

  it('that are too long are rejected before they end', async () => {
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from('["');
      for (;;) yield Buffer.from('0123456789');
    }
    const elements = elementsOf(endless(), 1000);
    const error = await elements.next().then(undefined, (reason: { code?: string }) => reason);
    expect(error).to.have.property('code', 'ERR_ROUTING_BODY_TOO_LARGE');
  });
});
