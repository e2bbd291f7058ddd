import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { factsOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { AUTH_METADATA, record, removeClientCopies } from '../../src/chain/grants.ts';
import { settingsOf } from '../../src/settings.ts';

function requestWith(headers: Readonly<Record<string, string>>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/', headers });
}

describe('removing client headers', () => {
  it('removes a header to which an earlier concern only appended', () => {
    const req = requestWith({ 'x-plan': 'forged', x_plan: 'forged' });
    const facts = factsOf(req);
    facts.requestChanges.push({ op: 'append', name: 'x-plan', value: 'own' });
    removeClientCopies(req, facts, ['x-plan']);
    expect([facts.header('x-plan'), facts.header('x_plan')]).to.deep.equal([undefined, undefined]);
  });

  it('keeps the value that an earlier concern set', () => {
    const req = requestWith({ 'x-plan': 'forged' });
    const facts = factsOf(req);
    facts.requestChanges.push({ op: 'set', name: 'x-plan', value: 'own' });
    removeClientCopies(req, facts, ['x-plan']);
    expect(facts.header('x-plan')).to.equal('own');
  });
});

describe('recording the grants of a chain', () => {
  const allowed = { allowed: true } as const;

  it('adds the check of the session to the facts', async () => {
    const facts = factsOf(requestWith({}));
    record({ ...allowed, isSessionOpen: async () => false }, facts, settingsOf({}));
    expect(await facts.isSessionOpen?.()).to.equal(false);
  });

  const clearing = settingsOf({ clearRouteCache: true });

  it('selects the route again for every matchable change, only with clearRouteCache', () => {
    const grants = [
      { userId: 'alice' },
      { requestChanges: [{ op: 'remove', name: 'x-a' }] },
      { queryChanges: [{ op: 'set', name: 'a', value: 'b' }] },
    ] as const;
    for (const granted of grants) {
      const [again, not] = [factsOf(requestWith({})), factsOf(requestWith({}))];
      record({ ...allowed, ...granted }, again, clearing);
      record({ ...allowed, ...granted }, not, settingsOf());
      expect([again.reroute, not.reroute], JSON.stringify(granted)).to.deep.equal([true, false]);
    }
    const nothing = factsOf(requestWith({}));
    record({ ...allowed, responseChanges: [{ op: 'set', name: 'x-a', value: '1' }] }, nothing, clearing);
    expect(nothing.reroute).to.equal(false);
  });

  it('adds its metadata to that of an earlier chain', () => {
    const facts = factsOf(requestWith({}));
    record({ ...allowed, metadata: { first: { a: 1 }, both: 1 } }, facts, settingsOf());
    record({ ...allowed, metadata: { second: { b: 2 }, both: 2 } }, facts, settingsOf());
    expect(facts.metadata.get(AUTH_METADATA)).to.deep.equal({ first: { a: 1 }, second: { b: 2 }, both: 2 });
  });
});
