import { keyOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { PRIVATE_KEY } from '../certificate.ts';
import { STATE, controlAdmin, resource } from './control-sample.ts';

describe('/snapshots/input: a ConfigMap', () => {
  async function shown(data: Record<string, string>): Promise<any> {
    const configMap = resource('ConfigMap', 'settings', { data });
    const resources = new Map([[keyOf('ConfigMap', configMap.metadata), configMap]]);
    const state = { ...STATE, resources, statuses: new Map() };
    const admin = await controlAdmin({ state: () => state });
    const { text } = await admin.request('/snapshots/input');
    await admin.close();
    return JSON.parse(text).data[0];
  }

  it('has its data at the top level, as in Kubernetes', async () => {
    expect(await shown({ 'a.rego': 'allow = true' })).to.deep.equal({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'gw-system' },
      data: { 'a.rego': 'allow = true' },
    });
  });

  it('is shown without private keys', async () => {
    const { data } = await shown({ 'tls.pem': PRIVATE_KEY });
    expect(data['tls.pem']).to.equal('<redacted>\n');
  });

  it('is shown without the password in a URL', async () => {
    const { data } = await shown({ url: 'https://gateway:hidden@db.example/x' });
    expect(data.url).to.equal('https://<redacted>@db.example/x');
  });
});

describe('/snapshots/input: a RateLimitConfig', () => {
  it('has a state and a message, as in Kubernetes', async () => {
    const config = resource('RateLimitConfig', 'limits', { raw: {} });
    const key = keyOf('RateLimitConfig', config.metadata);
    const report = { state: 'Rejected', reason: 'why', reportedBy: 'gw' } as const;
    const statuses = new Map([[key, { statuses: { 'gw-system': report } }]]);
    for (const resources of [new Map([[key, config]]), new Map()]) {
      const admin = await controlAdmin({ state: () => ({ ...STATE, resources, statuses }) });
      const { text } = await admin.request('/snapshots/input');
      await admin.close();
      expect(JSON.parse(text).data[0].status).to.deep.equal({ state: 'REJECTED', message: 'why' });
    }
  });
});
