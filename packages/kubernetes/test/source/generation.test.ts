import { silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createGeneration } from '../../src/source/generation.ts';
import { listOf, startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const secretRef = (namespace: string) => ({ sslConfig: { secretRef: { name: 'tls', namespace } } });
const virtualService = (name: string, spec: object) => ({
  metadata: { name, namespace: 'shop', resourceVersion: '1' },
  spec,
});

describe('the resources of a scope', () => {
  let api: ScriptedApi;

  beforeEach(async () => void (api = await startScriptedApi()));
  afterEach(() => api.close());

  it('reads no Secret of a namespace that is not selected, even if the list is forbidden', async () => {
    const read: string[] = [];
    api.onList = (query, res, req) => {
      const { pathname } = new URL(req.url!, 'http://localhost');
      if (pathname === '/api/v1/secrets') return status(403, 'Forbidden')(query, res, req);
      const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/secrets\/(.+)$/.exec(pathname) ?? [];
      if (name === undefined) {
        const isOurs = pathname === '/apis/gateway.vendor.io/v1/virtualservices';
        const items = [virtualService('a', secretRef('shop')), virtualService('b', secretRef('other'))];
        return listOf(1, isOurs ? items : [])(query, res, req);
      }
      read.push(`${namespace}/${name}`);
      res.end(JSON.stringify({ metadata: { name, namespace, resourceVersion: '1' }, data: {} }));
    };
    const generation = createGeneration({
      client: api.client,
      scope: { watched: undefined, used: new Set(['gw-system', 'shop']) },
      log: silentLoggers.get('config'),
      timing: { backoff: { firstMs: 20, maxMs: 100, resetMs: 60_000 } },
    });
    try {
      await generation.start();
      expect(read).to.include('shop/tls');
      expect(read.filter((key) => key.startsWith('other/'))).to.deep.equal([]);
      expect([...generation.objects.keys()].filter((unit) => unit.startsWith('secrets '))).to.not.include(
        'secrets other/tls',
      );
    } finally {
      await generation.close();
    }
  });
});
