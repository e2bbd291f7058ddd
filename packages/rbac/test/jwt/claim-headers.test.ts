import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { applyHeaderChanges, factsOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { removeOthersCopies } from '../../src/jwt/claim-headers.ts';

describe('claim headers', () => {
  it('are removed in every spelling, also if an earlier concern set them', () => {
    const rawHeaders = ['X_Email', 'forged', 'x-other', 'kept'];
    const req = Object.assign(new IncomingMessage(new Socket()), { url: '/', rawHeaders });
    const facts = factsOf(req);
    facts.requestChanges.push({ op: 'set', name: 'x-email', value: 'earlier' });
    removeOthersCopies(new Set(['x-email']), facts, rawHeaders);
    expect(applyHeaderChanges(rawHeaders, facts.requestChanges)).to.deep.equal(['x-other', 'kept']);
    expect(facts.reroute).to.equal(true);
  });

  it('do not change the route if there were none', () => {
    const facts = factsOf(Object.assign(new IncomingMessage(new Socket()), { url: '/' }));
    removeOthersCopies(new Set(['x-email']), facts, ['x-other', 'kept']);
    expect([facts.requestChanges, facts.reroute]).to.deep.equal([[], false]);
  });
});
