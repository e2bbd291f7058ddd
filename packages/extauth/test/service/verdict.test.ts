import { expect } from 'chai';
import type { AuthAllowed } from '@edge-gateway/core';
import { settingsOf } from '../../src/settings.ts';
import { authRequestOfCheck } from '../../src/service/check-input.ts';
import { grantOf } from '../../src/service/verdict.ts';

const { signal } = new AbortController();

function grant(granted: Omit<AuthAllowed, 'allowed'>, headers: Record<string, string> = {}, owned: string[] = []) {
  const http = { method: 'GET', path: '/', headers };
  const parts = { settings: settingsOf(), owned, hidden: (name: string) => name.startsWith('session') };
  return grantOf(
    { allowed: true, ...granted },
    authRequestOfCheck({ attributes: { request: { http } } }, signal),
    parts,
  );
}

describe('a granted request', () => {
  it('has final values, because proxies differ in how they append', () => {
    const { set } = grant(
      {
        requestChanges: [
          { op: 'append', name: 'x-role', value: 'a' },
          { op: 'append', name: 'x-role', value: 'b' },
          { op: 'set', name: 'x-one', value: '1' },
        ],
      },
      { 'x-role': 'forged', 'x-other': '2' },
    );
    expect([...set]).to.deep.equal([
      ['x-role', 'a, b'],
      ['x-one', '1'],
    ]);
  });

  it('has no header that only steps may set, even if the proxy did not send it', () => {
    const { remove, set } = grant({ userId: 'é' }, { x_team: 'forged' }, ['x-team']);
    expect(remove).to.have.members(['x-team', 'x_team']);
    expect([...set]).to.deep.equal([['x-user-id', '\u00c3\u00a9']]);
  });

  it('has no cookies that only steps read', () => {
    expect([...grant({}, { cookie: 'a=1; session=s; b=2' }).set]).to.deep.equal([['cookie', 'a=1; b=2']]);
    expect(grant({}, { cookie: 'session=s' }).remove).to.include('cookie');
    expect(grant({}, { cookie: 'a=1' }).set.has('cookie')).to.equal(false);
  });

  it('never changes the headers that frame a message', () => {
    const { set, remove } = grant({
      requestChanges: [
        { op: 'set', name: 'host', value: 'other' },
        { op: 'set', name: ':path', value: '/admin' },
        { op: 'remove', name: 'content-length' },
      ],
    });
    expect([...set.keys()]).to.deep.equal([]);
    expect(remove).to.deep.equal(['x-user-id']);
  });

  it('has the last change of each query parameter', () => {
    const { query } = grant({
      queryChanges: [
        { op: 'set', name: 'a', value: '1' },
        { op: 'remove', name: 'a' },
        { op: 'remove', name: 'b' },
        { op: 'set', name: 'b', value: '2' },
      ],
    });
    expect({ set: [...query.set], remove: query.remove }).to.deep.equal({ set: [['b', '2']], remove: ['a'] });
  });
});
