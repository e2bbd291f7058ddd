import { createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createDiscoveredApis, type DiscoveredApis } from '../../src/discovery/discovered-apis.ts';
import { startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const log = createLoggers({ destination: { write: () => {} } }).get('config');
const api = (name: string) => ({
  apiVersion: 'graphql.gw.vendor.io/v1beta1',
  kind: 'GraphQLApi',
  metadata: { name, namespace: 'shop' },
  spec: { executableSchema: { schemaDefinition: 'type Query { a: Int }' } },
});

describe('discovered GraphQLApis', () => {
  let server: ScriptedApi;
  let requests: string[];
  const open: DiscoveredApis[] = [];
  beforeEach(async () => {
    server = await startScriptedApi();
    requests = [];
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await server.close();
  });

  function create(): DiscoveredApis {
    const apis = createDiscoveredApis({ client: server.client, log, retryMs: 1 });
    open.push(apis);
    return apis;
  }

  /** Responds as if Upstreams existed and GraphQLApis did not; resolves with the write of an API. */
  function serve(onRequest: (name: string) => boolean = () => true, last = 'web'): Promise<void> {
    const written = Promise.withResolvers<void>();
    server.onList = (query, res, req) => {
      const path = new URL(req.url!, 'http://localhost').pathname;
      const name = path.slice(path.lastIndexOf('/') + 1);
      requests.push(`${req.method} ${name}`);
      if (!onRequest(name)) return status(500, 'InternalError')(query, res, req);
      if (req.method === 'GET' && path.includes('/graphqlapis/')) return status(404, 'NotFound')(query, res, req);
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ metadata: { name, namespace: 'shop', uid: 'u' } }));
      if (req.method === 'PATCH' && name === last) written.resolve();
    };
    return written.promise;
  }

  it('are written only by the process that leads', async () => {
    const written = serve();
    const [other, leader] = [create(), create()];
    other.set('discovery/shop/other', api('other'));
    leader.setLeading(true);
    leader.set('discovery/shop/web', api('web'));
    await written;
    expect(requests.slice().sort()).to.deep.equal(['GET web', 'GET web', 'PATCH web']);
  });

  it('are written again after a failure', async () => {
    let failures = 2;
    const written = serve(() => failures-- <= 0);
    const apis = create();
    apis.setLeading(true);
    apis.set('discovery/shop/web', api('web'));
    await written;
    expect(requests.at(-1)).to.equal('PATCH web');
  });

  it('do not wait for another one that keeps failing', async () => {
    const written = serve((name) => name !== 'bad');
    const apis = createDiscoveredApis({ client: server.client, log, retryMs: 600_000 });
    open.push(apis);
    apis.setLeading(true);
    apis.set('discovery/shop/bad', api('bad'));
    apis.set('discovery/shop/web', api('web'));
    await written;
  });

  it('are not written again after a failure if the process no longer leads', async () => {
    const former = create();
    const leader = create();
    let isFirst = true;
    const written = serve((name) => {
      if (name !== 'former') return true;
      if (!isFirst) return false;
      isFirst = false;
      former.setLeading(false);
      leader.setLeading(true);
      // Many, so that there is time for another attempt.
      for (let i = 0; i < 20; i++) leader.set(`discovery/shop/web${i}`, api(`web${i}`));
      return false;
    }, 'web19');
    former.setLeading(true);
    former.set('discovery/shop/former', api('former'));
    await written;
    expect(requests.filter((each) => each.endsWith('former')).length).to.be.at.most(2);
  });
});
