import { createMetrics, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createUpstreamWrites, type UpstreamWrites } from '../../src/discovery/upstream-writes.ts';
import type { UpstreamDraft } from '../../src/discovery/upstream-plan.ts';
import { startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const draft = (name: string, port = 80): UpstreamDraft => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name, namespace: 'gw-system', labels: {} },
  spec: { kube: { serviceName: name, serviceNamespace: 'shop', servicePort: port } },
});

describe('writes of discovered upstreams', () => {
  let api: ScriptedApi;
  let requests: string[];
  let rejected: Map<string, number>;
  let writes: UpstreamWrites;
  const target = { namespace: 'gw-system', note: () => undefined };

  beforeEach(async () => {
    api = await startScriptedApi();
    requests = [];
    rejected = new Map();
    const metrics = createMetrics();
    const stat = (name: string) => metrics.counter({ path: `test.${name}`, metric: `test_${name}` });
    api.onList = (query, res, req) => {
      const { pathname } = new URL(req.url!, 'http://localhost');
      const name = pathname.slice(pathname.lastIndexOf('/') + 1);
      requests.push(name);
      const code = rejected.get(name);
      if (code !== undefined) return status(code, 'Rejected')(query, res, req);
      res.end(JSON.stringify({ metadata: { name, namespace: 'gw-system' } }));
    };
    writes = createUpstreamWrites({
      client: api.client,
      log: silentLoggers.get('config'),
      stats: { written: stat('written'), failed: stat('failed') },
      signal: new AbortController().signal,
      limit: undefined,
      isWanted: () => true,
    });
  });
  afterEach(() => api.close());

  const send = (...apply: UpstreamDraft[]) => writes.send({ apply, remove: [] }, target);

  it('do not wait for an upstream that is rejected', async () => {
    rejected.set('bad', 422);
    expect(await send(draft('bad'), draft('a'))).to.be.greaterThan(0);
    expect(await send(draft('bad'), draft('b'))).to.be.greaterThan(0);
    expect(requests.sort()).to.deep.equal(['a', 'b', 'bad']);
  });

  it('send a rejected upstream again at once if it has changed', async () => {
    rejected.set('bad', 422);
    await send(draft('bad'));
    rejected.clear();
    expect(await send(draft('bad', 81))).to.equal(undefined);
    expect(requests).to.deep.equal(['bad', 'bad']);
  });

  for (const code of [403, 429, 503]) {
    it(`all wait after ${code}`, async () => {
      rejected.set('a', code);
      expect(await send(draft('a'))).to.be.greaterThan(0);
      expect(await send(draft('b'))).to.be.greaterThan(0);
      expect(requests).to.deep.equal(['a']);
    });
  }
});
