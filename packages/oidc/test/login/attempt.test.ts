import type { AuthRequest } from '@edge-gateway/core';
import { expect } from 'chai';
import { beginAttempt, resumeAttempt } from '../../src/login/attempt.ts';
import type { LoginSettings } from '../../src/login/settings.ts';

const settings = (id: string): LoginSettings =>
  ({ id, stateKeys: [new Uint8Array(32)], cookie: { secure: false } }) as unknown as LoginSettings;

describe('beginning a login', () => {
  /** Begins a login in a browser with these cookies, and returns those that it sets and deletes. */
  function begin(id: string, cookies: readonly string[], now = 1_800_000_000_000): readonly string[] {
    const request = { headers: () => ['cookie', cookies.join('; ')] as readonly string[] } as AuthRequest;
    return beginAttempt(request, settings(id), { target: '/', consecutiveLogins: 0, now }).cookies;
  }

  it('forgets the oldest of too many of this login, and none of another on the same host', () => {
    const cookies: string[] = [];
    for (let i = 0; i < 20; i++) {
      for (const id of ['mine', 'other']) cookies.push(begin(id, [], 1_700_000_000_000 + i * 1000)[0]!.split(';')[0]!);
    }
    const [oldest] = cookies;
    const written = begin('mine', cookies);
    expect(written).to.have.length(2);
    expect(written[0])
      .to.include(oldest!.split('=')[0])
      .and.to.match(/Max-Age=0|Expires=Thu, 01 Jan 1970/);
  });

  it('lasts ten minutes', () => {
    const now = 1_800_000_000_000;
    const request = { headers: () => [] as readonly string[] } as unknown as AuthRequest;
    const { state } = beginAttempt(request, settings('mine'), { target: '/', consecutiveLogins: 0, now });
    const isExpired = (after: number) =>
      resumeAttempt(request, settings('mine'), { state, now: now + after })?.isExpired;
    expect([isExpired(599_999), isExpired(600_000)]).to.deep.equal([false, true]);
  });
});
