import { expect } from 'chai';
import { request } from 'node:http';
import { once } from 'node:events';
import { createContext, factsOf, type Concern, type Destination } from '@edge-gateway/core';
import { createRouter } from '../../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

const TO_CLUSTER: Destination = {
  upstream: 'cluster-header:x-cluster',
  weight: 1,
  options: {},
  dynamic: { type: 'clusterHeader', header: 'x-cluster' },
};

/** Sets the header that chooses the cluster, like an auth server. */
const chooser: Concern<string> = {
  name: 'choose',
  option: 'choose',
  stage: 'extAuth',
  compile: (cluster) => (req, _res, next) => {
    factsOf(req).requestChanges.push({ op: 'set', name: 'x-cluster', value: cluster });
    next();
  },
};

async function gatewayFor({
  sanitizeClusterHeader = false,
  choose,
}: { sanitizeClusterHeader?: boolean; choose?: string } = {}) {
  const one = await start((_req, res) => void res.end('one'));
  const two = await start((_req, res) => void res.end('two'));
  const upstreams = [upstreamOf([endpointOf(one.port)], 'one'), upstreamOf([endpointOf(two.port)], 'two')];
  const route = routeOf({
    action: { type: 'forward', destinations: [TO_CLUSTER] },
    options: (choose === undefined ? {} : { choose }) as never,
  });
  const router = createRouter({ context: createContext(), concerns: [chooser as Concern] });
  router.apply(snapshotOf([hostOf([route])], upstreams, { httpOptions: { sanitizeClusterHeader } }));
  const handler = router.listener(LISTENER);
  const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
  return async (headers: Record<string, string>) => {
    const [res] = await once(request({ port, host: '127.0.0.1', agent: false, headers }).end(), 'response');
    let body = '';
    for await (const chunk of res) body += String(chunk);
    return `${res.statusCode} ${body}`;
  };
}

describe('a route with clusterHeader', () => {
  afterEach(stopAll);

  it('forwards to the cluster that the header names', async () => {
    const ask = await gatewayFor();
    expect(await ask({ 'X-Cluster': 'one_gw-system' })).to.equal('200 one');
    expect(await ask({ 'x-cluster': 'two_gw-system' })).to.equal('200 two');
  });

  for (const value of [undefined, '', 'three_gw-system', 'one', 'cluster-header:x-cluster', '__proto__']) {
    it(`responds with 503 to the value ${JSON.stringify(value)}`, async () => {
      const ask = await gatewayFor();
      expect(await ask(value === undefined ? {} : { 'x-cluster': value })).to.match(/^503 /);
    });
  }

  it('uses the header that a concern sets', async () => {
    const ask = await gatewayFor({ choose: 'two_gw-system' });
    expect(await ask({ 'x-cluster': 'one_gw-system' })).to.equal('200 two');
  });

  it('ignores the header of clients with sanitizeClusterHeader, but not that of a concern', async () => {
    const ask = await gatewayFor({ sanitizeClusterHeader: true });
    expect(await ask({ 'x-cluster': 'one_gw-system' })).to.match(/^503 /);
    const chosen = await gatewayFor({ sanitizeClusterHeader: true, choose: 'two_gw-system' });
    expect(await chosen({ 'x-cluster': 'one_gw-system' })).to.equal('200 two');
  });
});
