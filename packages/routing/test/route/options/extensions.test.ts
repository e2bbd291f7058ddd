import { expect } from 'chai';
import { factsOf, type Concern } from '@edge-gateway/core';
import { served, type Served } from '../../served.ts';
import { routeOf } from '../../snapshots.ts';

/** Sends its own settings upstream. */
const concern: Concern<{ readonly team?: string }> = {
  name: 'team',
  option: 'extensions',
  stage: 'regularTransformation',
  compile:
    ({ team }) =>
    (req, _res, next) => {
      factsOf(req).requestChanges.push({ op: 'set', name: 'x-team', value: String(team) });
      next();
    },
};
const own = (team: string) => ({ extensions: { team } });

describe('extensions', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  it('reach concerns of a user, the most specific block first', async () => {
    const destination = (options: object) =>
      ({ type: 'forward', destinations: [{ upstream: 'up_gw-system', weight: 1, options }] }) as const;
    const routes = [
      routeOf({ matchers: [{ prefix: '/d' }], action: destination(own('destination')), options: own('route') }),
      routeOf({ matchers: [{ prefix: '/r' }], options: own('route') }),
      routeOf(),
    ];
    const concerns = [concern] as readonly Concern[];
    gateway = await served({ routes, host: own('host'), concerns });
    const teamOf = async (path: string) => (await gateway.seen(path)).headers['x-team'];
    expect([await teamOf('/d'), await teamOf('/r'), await teamOf('/')]).to.deep.equal(['destination', 'route', 'host']);
    await gateway.close();
    gateway = await served({ concerns, listener: { options: own('listener') } });
    expect(await teamOf('/')).to.equal('listener');
  });

  it('have no effect without a concern', async () => {
    gateway = await served({ options: own('route') });
    expect((await gateway.seen('/')).headers).not.to.have.property('x-team');
  });
});
