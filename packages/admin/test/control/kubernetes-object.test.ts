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
