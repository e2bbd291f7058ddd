import { expect } from 'chai';
import type { ActionKind, Snapshot } from '@edge-gateway/core';
import { until } from '../../../test/parts/until.ts';
import { createRouter } from '../src/router.ts';
import { hostOf, LISTENER, routeOf, snapshotOf, start, stopAll } from './snapshots.ts';

const NAMES = ['old', 'new'] as const;

describe('drain of a router', () => {
  afterEach(stopAll);

  it('reaches the actions of now, and replaced ones that still have requests', async () => {
    const drained: string[] = [];
    const ends: (() => void)[] = [];
    const action: ActionKind = {
      action: 'graphql',
      compile(route) {
        const { name } = (route as Extract<typeof route, { type: 'graphql' }>).api;
        const answer = ({ res }: { res: { end(text: string): void } }): void => void ends.push(() => res.end(name));
        return Object.assign(answer, { drain: () => void drained.push(name) });
      },
    };
    const router = createRouter({ actions: [action] });
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    const serving = (name: string): Snapshot =>
      snapshotOf([hostOf([routeOf({ action: { type: 'graphql', api: { name, namespace: 'gw-system' } } as never })])]);
    const answers: Promise<string>[] = [];
    for (const [i, name] of NAMES.entries()) {
      router.apply(serving(name));
      answers.push(fetch(`http://127.0.0.1:${port}/`).then((response) => response.text()));
      await until(() => ends.length > i);
    }
    router.drain();
    expect(drained.toSorted()).to.deep.equal(['new', 'old']);
    for (const end of ends) end();
    expect(await Promise.all(answers)).to.deep.equal(NAMES);
    await until(() => {
      drained.length = 0;
      router.drain();
      return drained.length <= 1;
    });
    expect(drained).to.deep.equal(['new']);
    await router.close();
  });
});
