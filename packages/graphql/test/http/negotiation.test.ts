import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { varyByAccept } from '../../src/http/negotiation.ts';

describe('varyByAccept', () => {
  const cases: readonly (readonly [string | readonly string[] | undefined, string])[] = [
    [undefined, 'Accept'],
    ['Origin', 'Origin, Accept'],
    ['Accept-Encoding', 'Accept-Encoding, Accept'],
    ['X-Accept', 'X-Accept, Accept'],
    ['Origin, accept', 'Origin, accept'],
    [['Origin', 'Accept'], 'Origin, Accept'],
    ['*', '*'],
  ];
  for (const [set, expected] of cases) {
    it(`returns '${expected}' where ${set === undefined ? 'nothing' : `'${[set].flat().join("' and '")}'`} is set`, () => {
      const res = new ServerResponse(new IncomingMessage(new Socket()));
      if (set !== undefined) res.setHeader('vary', set);
      expect(varyByAccept(res)).to.equal(expected);
    });
  }
});
