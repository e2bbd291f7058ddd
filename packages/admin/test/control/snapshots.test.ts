import { expect } from 'chai';
import type { TestPort } from '../sample.ts';
import { STATE, controlAdmin } from './control-sample.ts';

describe('/snapshots', () => {
  let admin: TestPort;
  before(async () => (admin = await controlAdmin()));
  after(() => admin.close());
  const snapshot = async (name: string, port = admin): Promise<any> =>
    JSON.parse((await port.request(`/snapshots/${name}`)).text);

  it('input lists resources sorted by version, kind, namespace and name', async () => {
    const { data } = await snapshot('input');
    expect(data.map(({ apiVersion, kind, metadata }: any) => `${apiVersion} ${kind} ${metadata.name}`)).to.deep.equal([
      'gateway.vendor.io/v1 VirtualService shop',
      'gw.vendor.io/v1 Upstream broken',
      'gw.vendor.io/v1 Upstream pets',
      'v1 ConfigMap rules',
      'v1 Secret oauth',
      'v1 Secret shop-headers',
      'v1 Secret shop-tls',
    ]);
  });

  it('input shows the status, and a resource without a good version as written', async () => {
    const { data } = await snapshot('input');
    const [shop, broken] = data;
    expect(shop.status.statuses['gw-system'].state).to.equal('Accepted');
    expect(shop.spec.virtualHost.domains).to.deep.equal(['shop.example']);
    expect(broken).to.deep.equal({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'broken', namespace: 'gw-system' },
      spec: 'static',
      status: { statuses: { 'gw-system': { state: 'Rejected', reportedBy: 'gw', reason: 'must be an object' } } },
    });
  });

  it('input shows secrets in the form of Kubernetes with redacted values', async () => {
    const { data } = await snapshot('input');
    const secret = data.find(({ metadata }: any) => metadata.name === 'shop-tls');
    expect(secret.type).to.equal('kubernetes.io/tls');
    expect(secret.data).to.deep.equal({ 'tls.crt': '<redacted>', 'tls.key': '<redacted>', 'ca.crt': '<redacted>' });
    expect(secret.metadata.annotations.note).to.equal('<redacted>');
    expect(secret).not.to.have.property('spec');
  });

  it('input lists as errors only the problems that no status contains: invalid documents', async () => {
    const { status, error } = await snapshot('input');
    expect(status).to.equal('error');
    expect(error).to.equal('notes.yaml:2:1  the document has no kind');
    const clean = await controlAdmin({ state: () => ({ ...STATE, issues: [] }) });
    const response = await snapshot('input', clean);
    await clean.close();
    expect(response.status).to.equal('ok');
    expect(response).not.to.have.property('error');
  });

  it('edge maps kinds to the resources in use, secrets with metadata only', async () => {
    const { status, data } = await snapshot('edge');
    expect(status).to.equal('ok');
    expect(Object.keys(data)).to.deep.equal(['ConfigMap', 'Secret', 'Upstream', 'VirtualService']);
    expect(data.Upstream.map(({ metadata }: any) => metadata.name)).to.deep.equal(['pets']);
    expect(data.Secret[0]).to.have.all.keys('apiVersion', 'kind', 'metadata');
    expect(data.ConfigMap[0].data).to.deep.equal({ 'a.rego': '<redacted>' });
  });

  it('proxies lists the proxies', async () => {
    const { data } = await snapshot('proxies');
    expect(data).to.have.length(1);
    expect(data[0]).to.deep.include({ kind: 'Proxy', spec: { listeners: [] } });
  });

  it('xds maps node keys to snapshots', async () => {
    const { status, data } = await snapshot('xds');
    expect(status).to.equal('ok');
    expect(Object.keys(data)).to.deep.equal(['gw-system~gateway-proxy']);
    expect(data['gw-system~gateway-proxy']).to.deep.include({ proxy: 'gateway-proxy', version: '8f2c' });
  });

  it('returns 200 with an error before the first resources are read', async () => {
    const early = await controlAdmin({ state: () => undefined });
    for (const name of ['input', 'edge', 'proxies', 'xds']) {
      expect(await snapshot(name, early)).to.deep.equal({
        status: 'error',
        data: null,
        error: 'the resources have not been read yet',
      });
    }
    await early.close();
  });
});
