import { expect } from 'chai';
import type { SessionData } from 'express-session';
import { createLocalStore, type SessionStore } from '../../src/session/local-store.ts';

describe('sessions in memory', () => {
  let now = 0;
  const data = (endsAt: number): SessionData =>
    ({ cookie: { originalMaxAge: 1, expires: new Date(endsAt) }, sealed: `until ${endsAt}` }) as unknown as SessionData;
  const get = (store: SessionStore, id: string): Promise<unknown> =>
    new Promise((resolve) => store.get(id, (_error, found) => resolve(found)));

  it('are returned until they expire', async () => {
    now = 0;
    const store = createLocalStore(() => now);
    store.set('a', data(1000));
    expect(await get(store, 'a')).to.include({ sealed: 'until 1000' });
    expect(await get(store, 'b')).to.equal(null);
    now = 1000;
    expect(await get(store, 'a')).to.equal(null);
    expect(store.size).to.equal(0);
  });

  it('that expired are removed while others are written, without being read', () => {
    now = 0;
    const store = createLocalStore(() => now);
    for (let i = 0; i < 500; i++) store.set(`old ${i}`, data(1000));
    now = 1000;
    for (let i = 0; i < 60; i++) store.set(`new ${i}`, data(2000));
    expect(store.size).to.equal(60);
  });

  it('are bounded: the least recently written one is evicted', async () => {
    now = 0;
    const store = createLocalStore(() => now, 3);
    for (const id of ['a', 'b', 'c', 'a', 'd']) store.set(id, data(1000));
    expect(store.size).to.equal(3);
    expect(await get(store, 'b')).to.equal(null);
    expect(await get(store, 'a')).to.include({ sealed: 'until 1000' });
  });
});
