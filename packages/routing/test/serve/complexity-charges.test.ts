import { expect } from 'chai';
import { factsOf, GatewayError, type ActionKind, type Concern } from '@edge-gateway/core';
import { createRouter } from '../../src/router.ts';
import { hostOf, LISTENER, routeOf, snapshotOf, start, stopAll } from '../snapshots.ts';

const action: ActionKind = {
  action: 'graphql',
  compile: () =>
    function respond({ res, writeHead }) {
      writeHead(200, ['content-length', '0']);
      res.end();
    },
};

describe('charges for complexity', () => {
  afterEach(stopAll);

  /** Asks a route of an action whose concern registers a charge and then moves the request to `path`. */
  async function ask(path: string, denied?: GatewayError): Promise<{ status: number; charged: number[] }> {
    const charged: number[] = [];
    const concern: Concern = {
      name: 'charging',
      option: 'charging',
      stage: 'rateLimit',
      compile: () => (req, _res, next) => {
        const facts = factsOf(req);
        facts.complexityCharges?.push(async (complexity) => {
          charged.push(complexity);
          return denied;
        });
        facts.path = path;
        facts.reroute = true;
        next();
      },
    };
    const router = createRouter({ actions: [action], concerns: [concern] });
    const graphql = { type: 'graphql', api: { name: 'a', namespace: 'gw-system' } } as never;
    const options = { charging: {} } as never;
    const routes = [
      routeOf({ matchers: [{ prefix: '/graphql' }], action: graphql, options }),
      routeOf({ matchers: [{ prefix: '/' }], action: { type: 'direct', status: 203, body: '' } }),
    ];
    router.apply(snapshotOf([hostOf(routes)]));
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => {}));
    const { status } = await fetch(`http://127.0.0.1:${port}/graphql`);
    return { status, charged };
  }

  it('are left to an action that runs them', async () => {
    expect(await ask('/graphql/b')).to.deep.equal({ status: 200, charged: [] });
  });

  it('count 1 if another route without such an action is chosen', async () => {
    expect(await ask('/other')).to.deep.equal({ status: 203, charged: [1] });
    const denied = new GatewayError('too many', { code: 'ERR_TEST', status: 429 });
    expect(await ask('/other', denied)).to.deep.equal({ status: 429, charged: [1] });
  });
});
