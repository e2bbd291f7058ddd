import { expect } from 'chai';
import { silentLoggers } from '@edge-gateway/core';
import { failure } from '../../src/error-codes.ts';
import { createExpiringMap, createRecentErrors } from '../../src/session/expiring.ts';
import { createRenewal, endRenewals, type RenewalMemory, type RenewOptions } from '../../src/session/renew.ts';
import type { StoredSession, Session, SessionStorage } from '../../src/session/session.ts';
import { requestWith } from './storage-contract.ts';

/** A renewal on a clock that stands still, with a storage that keeps nothing. */
function renewalWith({
  server,
  ...parts
}: Partial<RenewOptions> & {
  readonly exclusively?: SessionStorage['exclusively'];
  /** Replaces parts of the storage. */
  readonly server?: Partial<SessionStorage>;
}) {
  const clock = { now: 0 };
  const now = (): number => clock.now;
  const limits = { max: 100, ttlMs: 30_000, now };
  const memory: RenewalMemory = {
    renewalsInProgress: new Map(),
    recent: createExpiringMap(limits),
    failed: createRecentErrors({ ...limits, ttlMs: 2000 }),
    unsaved: createExpiringMap(limits),
    withoutIdToken: createExpiringMap(limits),
    ended: createExpiringMap(limits),
  };
  const storage: SessionStorage = {
    cannotLock: true,
    load: async () => undefined,
    loadAll: async () => [],
    reload: async (current) => current,
    create: async () => [],
    update: async () => ['cookie'],
    remove: async () => [],
    exclusively: parts.exclusively ?? ((stored, work) => work(stored)),
    ...server,
  };
  const log = silentLoggers.get('ext_authz');
  const rest = { allowRefreshing: true, bufferMs: 2000, refresh: async () => fresh, ...parts };
  return { clock, memory, renew: createRenewal({ storage, memory, now, log, ...rest }) };
}

const fresh: Session = { accessToken: 'fresh', refreshToken: 'r2', accessEndsAt: 1_000_000 };
const stored: StoredSession = { id: 'id', session: { accessToken: 'a', refreshToken: 'r1', accessEndsAt: 10_000 } };

describe('a renewal', () => {
  for (const [name, latest, expected] of [
    ['was renewed by another process', { ...stored, session: fresh }, 'fresh'],
    ['is unchanged', stored, undefined],
    ['is gone', undefined, undefined],
  ] as const) {
    it(`whose grant is rejected reads the store again: the session ${name}`, async () => {
      const removed: unknown[] = [];
      const { clock, renew } = renewalWith({
        refresh: () => Promise.reject(failure('ERR_OIDC_GRANT_REFUSED')),
        server: {
          cannotLock: false,
          reload: async () => latest,
          remove: async (_request, each) => {
            removed.push(each);
            return [];
          },
        },
      });
      clock.now = 10_000;
      expect((await renew(requestWith(), stored))?.session.accessToken).to.equal(expected);
      expect(removed.length).to.equal(expected === undefined ? 1 : 0);
    });
  }

  it('whose grant is rejected removes nothing if the store cannot be read again', async () => {
    const { clock, renew } = renewalWith({
      refresh: () => Promise.reject(failure('ERR_OIDC_GRANT_REFUSED')),
      server: {
        cannotLock: false,
        reload: () => Promise.reject(failure('ERR_OIDC_STORE_UNAVAILABLE')),
        remove: () => expect.fail('removed'),
      },
    });
    clock.now = 10_000;
    const error: unknown = await renew(requestWith(), stored).catch((each: unknown) => each);
    expect(error).to.have.property('code', 'ERR_OIDC_STORE_UNAVAILABLE');
  });

  it('by another process is awaited once tokens have expired, also after a request that does not wait', async () => {
    const waits: number[] = [];
    const asked = Promise.withResolvers<void>();
    const { clock, renew } = renewalWith({
      async exclusively(_held, work, waitMs) {
        waits.push(waitMs);
        if (waitMs > 0) return work({ ...stored, session: fresh });
        await asked.promise;
        return undefined;
      },
    });
    clock.now = 9999;
    const early = renew(requestWith(), stored);
    clock.now = 10_000;
    const late = [renew(requestWith(), stored), renew(requestWith(), stored)];
    asked.resolve();
    expect((await early)?.session).to.equal(stored.session);
    for (const each of late) expect((await each)?.session).to.equal(fresh);
    expect(waits.map((each) => each > 0)).to.deep.equal([false, true]);
  });

  it('in progress is not awaited while the tokens are valid', async () => {
    const refreshed = Promise.withResolvers<Session>();
    let calls = 0;
    const refresh = (): Promise<Session> => {
      calls++;
      return refreshed.promise;
    };
    const { clock, renew } = renewalWith({ refresh });
    clock.now = 9999;
    const first = renew(requestWith(), stored);
    expect((await renew(requestWith(), stored))?.session).to.equal(stored.session);
    refreshed.resolve(fresh);
    expect((await first)?.session).to.equal(fresh);
    expect(calls).to.equal(1);
  });

  for (const [kind, next] of Object.entries({ rotates: (n: number) => `r${n}`, stays: () => 'r1' })) {
    it(`follows soon after another if the refresh token ${kind}, also for a request with the previous tokens`, async () => {
      let serial = 1;
      const sent: (string | undefined)[] = [];
      const { clock, renew } = renewalWith({
        async refresh(_request, { session }) {
          sent.push(session.refreshToken);
          return { accessToken: 'a', refreshToken: next(++serial), accessEndsAt: clock.now + 5000 };
        },
      });
      for (const now of [10_000, 15_000, 20_000]) {
        clock.now = now;
        expect((await renew(requestWith(), stored))?.session.accessEndsAt, `at ${now}`).to.equal(now + 5000);
      }
      expect(sent).to.deep.equal(['r1', next(2), next(3)]);
    });
  }

  const moments = { 'until its end': 22_001, 'also if the clock is set back': 15_000 };
  for (const [what, later] of Object.entries(moments))
    it(`that failed is not repeated for a moment, ${what}`, async () => {
      let calls = 0;
      const { clock, renew } = renewalWith({
        refresh: async () => {
          if (++calls === 1) throw failure('ERR_OIDC_PROVIDER_UNAVAILABLE');
          return { ...fresh, accessEndsAt: clock.now + 100_000 };
        },
      });
      const codeOfRenewal = () => renew(requestWith(), stored).catch((error: { code: string }) => error.code);
      clock.now = 20_000;
      for (let i = 0; i < 3; i++) expect(await codeOfRenewal()).to.equal('ERR_OIDC_PROVIDER_UNAVAILABLE');
      expect(calls).to.equal(1);
      clock.now = later;
      expect(await codeOfRenewal()).to.have.nested.property('session.accessToken', 'fresh');
      expect(calls).to.equal(2);
    });

  it('whose tokens cannot be stored serves them, and stores them with a later request', async () => {
    const updates: (string | undefined)[] = [];
    let works = false;
    const { clock, memory, renew } = renewalWith({
      server: {
        cannotLock: false,
        async update(_request, _stored, { refreshToken }) {
          updates.push(refreshToken);
          if (!works) throw failure('ERR_OIDC_STORE_UNAVAILABLE');
          return ['cookie'];
        },
      },
    });
    clock.now = 10_000;
    for (let i = 0; i < 2; i++) expect((await renew(requestWith(), stored))?.session).to.equal(fresh);
    expect(updates).to.deep.equal(['r2', 'r2']);
    expect(memory.unsaved.get('id')).to.equal(fresh);
    works = true;
    expect((await renew(requestWith(), stored))?.session).to.equal(fresh);
    expect(memory.unsaved.get('id')).to.equal(undefined);
    expect((await renew(requestWith(), stored))?.session).to.equal(fresh);
    expect(updates).to.deep.equal(['r2', 'r2', 'r2']);
  });

  for (const [code, expected] of [
    ['ERR_OIDC_SESSION_TOO_LARGE', 'login'],
    ['ERR_OIDC_STORE_UNAVAILABLE', 'ERR_OIDC_STORE_UNAVAILABLE'],
  ] as const)
    it(`whose cookies fail with ${code} ends in ${expected}`, async () => {
      const { clock, renew } = renewalWith({ server: { update: () => Promise.reject(failure(code)) } });
      clock.now = 10_000;
      const outcome = await renew(requestWith(), stored).then(
        (renewed) => (renewed ? 'session' : 'login'),
        (error: { code: string }) => error.code,
      );
      expect(outcome).to.equal(expected);
    });

  it('fails if another process holds the lock of an expired session for too long', async () => {
    const { clock, renew } = renewalWith({ exclusively: async () => undefined });
    clock.now = 10_000;
    const error: unknown = await renew(requestWith(), stored).catch((each: unknown) => each);
    expect(error).to.have.property('code', 'ERR_OIDC_STORE_UNAVAILABLE');
  });

  it('in progress at a logout yields no session, and its tokens to the logout', async () => {
    const answer = Promise.withResolvers<Session>();
    const { clock, memory, renew } = renewalWith({ refresh: () => answer.promise });
    clock.now = 10_000;
    const waiting = renew(requestWith(), stored);
    const ended = endRenewals(memory, stored.session);
    answer.resolve(fresh);
    expect(await waiting).to.equal(undefined);
    expect(await ended).to.equal(fresh);
    expect(await renew(requestWith(), stored), 'a request that comes late').to.equal(undefined);
    expect((await renew(requestWith(), { id: 'other', session: fresh }))?.session).to.equal(fresh);
  });
});
