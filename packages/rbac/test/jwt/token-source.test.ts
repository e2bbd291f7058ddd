import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { applyHeaderChanges, factsOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { findTokens, removeTokens, tokenSourceOf } from '../../src/jwt/token-source.ts';

function requestWith(url: string, rawHeaders: string[]): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url, rawHeaders });
}

describe('token sources', () => {
  const source = tokenSourceOf({
    tokenSource: { headers: [{ header: 'X-One', prefix: 'T ' }, { header: 'x-two' }], queryParams: ['t', 'u'] },
  });

  it('finds and removes all tokens in all sources', () => {
    const req = requestWith('/a?t=q1&keep=1&u=q2&%74=q3', [
      'X-One',
      'T h1',
      'x-two',
      'h2',
      'X-Two',
      'h3',
      'x-other',
      'o',
    ]);
    const facts = factsOf(req);
    const found = findTokens(source, facts, req.rawHeaders);
    expect(found.tokens).to.have.members(['h1', 'h2', 'h3', 'q1', 'q2', 'q3']);
    removeTokens(found, source, facts);
    expect(applyHeaderChanges(req.rawHeaders, facts.requestChanges)).to.deep.equal(['x-other', 'o']);
    expect(facts.path).to.equal('/a?keep=1');
  });

  it('reads the scheme of authorization without regard to case', () => {
    const configured = { tokenSource: { headers: [{ header: 'Authorization', prefix: 'Bearer ' }] } };
    for (const each of [tokenSourceOf({}), tokenSourceOf(configured)]) {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const req = requestWith('/', ['authorization', `${scheme} h1`]);
        expect(findTokens(each, factsOf(req), req.rawHeaders).tokens, scheme).to.deep.equal(['h1']);
      }
    }
  });

  it('reads other prefixes without regard to case', () => {
    const req = requestWith('/', ['x-one', 't h2']);
    expect(findTokens(source, factsOf(req), req.rawHeaders).tokens).to.deep.equal(['h2']);
  });

  it('finds a malformed token after a separator other than spaces', () => {
    for (const malformed of ['\th1', '\u00A0h1', ',h1', ':h1', '/h1']) {
      for (const before of ['Bearer', 'bearer ', 'BEARER  ']) {
        const req = requestWith('/', ['authorization', before + malformed]);
        const { tokens } = findTokens(tokenSourceOf({}), factsOf(req), req.rawHeaders);
        expect(tokens, JSON.stringify(before + malformed)).to.deep.equal([malformed]);
      }
    }
  });

  it('finds no token without the prefix, or with nothing after it', () => {
    const req = requestWith('/', ['x-one', 'h1', 'x-one', 'T ', 'x-one', 'Th2']);
    expect(findTokens(source, factsOf(req), req.rawHeaders).tokens).to.deep.equal([]);
  });
});
