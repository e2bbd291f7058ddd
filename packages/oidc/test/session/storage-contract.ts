import { expect } from 'chai';
import type { AuthRequest } from '@edge-gateway/core';
import type { StoredSession, Session, SessionStorage } from '../../src/session/session.ts';
import { until } from '../../../../test/parts/until.ts';

/** What every store of sessions has to do. `other` is a second storage on the same store, as of another process. */
export interface StoragePair {
  readonly storage: SessionStorage;
  readonly other: SessionStorage;
  close(): Promise<void>;
}

export function requestWith(cookie?: string): AuthRequest {
  return {
    requestId: 'r',
    method: 'GET',
    scheme: 'https',
    host: 'app.example.com',
    path: '/',
    header: (name) => (name === 'cookie' ? cookie : undefined),
    headers: () => (cookie === undefined ? [] : ['cookie', cookie]),
    clientAddress: '127.0.0.1',
    state: {},
    metadata: new Map(),
  };
}

const idToken = (claims: object): string =>
  `e30.${Buffer.from(JSON.stringify({ iss: 'https://idp.example', exp: 4_000_000_000, ...claims })).toString('base64url')}.x`;
/** A session that can be renewed. */
export const sessionOf = (sub: string, sid: string): Session => ({
  idToken: idToken({ sub, sid }),
  accessToken: `access of ${sub}`,
  refreshToken: `refresh of ${sid}`,
});

/** The contract suite of session stores. */
export function sessionStoreContract(name: string, create: () => Promise<StoragePair>): void {
  describe(`sessions in ${name}`, () => {
    let pair: StoragePair;
    const login = async (session: Session): Promise<AuthRequest> => {
      const [cookie = ''] = await pair.storage.create(requestWith(), session);
      return requestWith(cookie.split(';', 1)[0]);
    };
    beforeEach(async () => {
      pair = await create();
    });
    afterEach(() => pair.close());

    it('are found by their handle, also by another process', async () => {
      const session = sessionOf('a', '1');
      const request = await login(session);
      expect((await pair.storage.load(request))?.session).to.deep.equal(session);
      expect((await pair.other.load(request))?.session).to.deep.equal(session);
    });

    it('are not found by any other handle', async () => {
      await login(sessionOf('a', '1'));
      for (const cookie of ['', '__session=', `__session=${'A'.repeat(43)}`, '__session=../x', '__session=*', 'x=1']) {
        expect(await pair.storage.load(requestWith(cookie)), cookie).to.equal(undefined);
      }
    });

    it('of two users are never mixed up', async () => {
      const requests = await Promise.all(Array.from({ length: 20 }, (_, i) => login(sessionOf(`u${i}`, `s${i}`))));
      const loaded = await Promise.all(requests.map((request) => pair.other.load(request)));
      expect(loaded.map((stored) => stored?.session.accessToken)).to.deep.equal(
        requests.map((_, i) => `access of u${i}`),
      );
    });

    it('can be written again, and the other process sees it', async () => {
      const request = await login(sessionOf('a', '1'));
      const stored = (await pair.storage.load(request))!;
      await pair.storage.update(request, stored, { ...stored.session, accessToken: 'new' });
      expect((await pair.other.load(request))?.session.accessToken).to.equal('new');
    });

    it('are gone once removed', async () => {
      const request = await login(sessionOf('a', '1'));
      const cookies = await pair.other.remove(request, await pair.other.load(request));
      expect(cookies.join()).to.match(/__session=;.*Path=\/.*Max-Age=0/);
      expect(await pair.storage.load(request)).to.equal(undefined);
    });

    it('are gone for a process that reads one again after another process removed it', async () => {
      const request = await login(sessionOf('a', '1'));
      const stored = (await pair.storage.load(request))!;
      expect((await pair.storage.reload(stored))?.session).to.deep.equal(stored.session);
      await pair.other.remove(request, await pair.other.load(request));
      expect(await pair.storage.reload(stored)).to.equal(undefined);
    });

    it('of one session at the provider are removed together, and no others', async () => {
      const [one, same, third] = [
        await login(sessionOf('a', '1')),
        await login(sessionOf('a', '1')),
        await login(sessionOf('a', '2')),
      ];
      await pair.other.removeAll!([JSON.stringify(['sid', 'https://idp.example', '1'])]);
      expect([await pair.storage.load(one), await pair.storage.load(same)]).to.deep.equal([undefined, undefined]);
      expect(await pair.storage.load(third)).to.not.equal(undefined);
      await pair.storage.removeAll!([JSON.stringify(['sid', 'https://idp.example', '1'])]);
      await pair.storage.removeAll!([JSON.stringify(['sub', 'https://idp.example', 'a'])]);
      expect(await pair.storage.load(third)).to.equal(undefined);
    });

    it('of a subject are found for as long as they are renewed', async () => {
      const request = await login({ ...sessionOf('a', '1') });
      const stored = (await pair.storage.load(request))!;
      await pair.storage.update(request, stored, { ...stored.session, idToken: sessionOf('a', 'other').idToken! });
      await pair.other.removeAll!([JSON.stringify(['sid', 'https://idp.example', 'other'])]);
      expect(await pair.storage.load(request)).to.equal(undefined);
    });

    it('end when the same browser logs in again', async () => {
      const request = await login(sessionOf('a', '1'));
      const before = await pair.storage.load(request);
      const [cookie = ''] = await pair.storage.create(request, sessionOf('b', '2'), { before });
      expect(await pair.other.load(request)).to.equal(undefined);
      const now = await pair.other.load(requestWith(cookie.split(';', 1)[0]));
      expect(now?.session.accessToken).to.equal('access of b');
    });

    it('are locked for one holder at a time', async () => {
      const request = await login(sessionOf('a', '1'));
      const stored = (await pair.storage.load(request))!;
      let inside = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside--;
      };
      const storages = [pair.storage, pair.other, pair.storage, pair.other];
      await Promise.all(storages.map((each) => each.exclusively(stored, work, 30_000)));
      expect(most).to.equal(1);
      const nested = await pair.storage.exclusively(
        stored,
        () => pair.other.exclusively(stored, work, 0).then(() => 'done'),
        0,
      );
      expect(nested).to.equal('done');
    });

    const ways: Readonly<Record<string, (request: AuthRequest, stored: StoredSession) => Promise<unknown>>> = {
      'by its user': async (request, stored) => {
        await pair.storage.remove(request, stored);
        return pair.storage.removeAgain!(stored);
      },
      'by its provider': () => pair.storage.removeAll!([JSON.stringify(['sub', 'https://idp.example', 'a'])]),
    };
    for (const [name, remove] of Object.entries(ways)) {
      it(`do not come back when they are removed ${name} while another process renews them`, async () => {
        const request = await login(sessionOf('a', '1'));
        const stored = (await pair.storage.load(request))!;
        const renewed = { ...stored.session, accessToken: 'renewed' };
        const { promise: working, resolve: work } = Promise.withResolvers<void>();
        const renewal = pair.other.exclusively(
          stored,
          async () => {
            work();
            await until(async () => (await pair.other.load(request)) === undefined);
            await pair.other.update(request, stored, renewed);
          },
          0,
        );
        await working;
        const removed = await remove(request, stored);
        await renewal;
        expect(await pair.storage.load(request)).to.equal(undefined);
        if (name === 'by its user') expect(removed).to.deep.equal(renewed);
      });
    }

    describe('a logout token', () => {
      const none = async (): Promise<void> => {};

      it('is used once, at all processes', async () => {
        expect(await pair.storage.runOnce!('a', none)).to.equal(true);
        expect(await pair.storage.runOnce!('a', none)).to.equal(false);
        expect(await pair.other.runOnce!('a', none)).to.equal(false);
        expect(await pair.other.runOnce!('b', none)).to.equal(true);
      });

      it('is not used by a logout that failed', async () => {
        const failed = await pair.storage.runOnce!('a', () => Promise.reject(new Error('away'))).catch(
          (error: Error) => error.message,
        );
        expect(failed).to.equal('away');
        expect(await pair.other.runOnce!('a', none)).to.equal(true);
      });

      it('that arrives again during its logout waits for the result', async () => {
        const begun = Promise.withResolvers<void>();
        const finish = Promise.withResolvers<void>();
        const runs: string[] = [];
        const first = pair.storage.runOnce!('a', async () => {
          begun.resolve();
          await finish.promise;
          throw new Error('away');
        }).catch(() => runs.push('failed'));
        await begun.promise;
        const again = [pair.other, pair.storage].map((each) => each.runOnce!('a', async () => void runs.push('ran')));
        finish.resolve();
        await first;
        expect((await Promise.all(again)).sort()).to.deep.equal([false, true]);
        expect(runs).to.deep.equal(['failed', 'ran']);
      });
    });

    it('expire with their tokens if they cannot be renewed', async () => {
      const request = await login({ accessToken: 'x', accessEndsAt: Date.now() - 120_000 });
      expect(await pair.storage.load(request)).to.equal(undefined);
    });
  });
}
