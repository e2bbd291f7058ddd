import { expect } from 'chai';
import { createDeveloperAdmin } from '../src/index.ts';
import { STATE } from './control/control-sample.ts';
import { listen, type TestPort } from './sample.ts';

describe('the developer port', () => {
  let admin: TestPort;
  before(async () => (admin = await listen(createDeveloperAdmin({ state: () => STATE }))));
  after(() => admin.close());

  it('marks every response as deprecated', async () => {
    for (const path of ['/', '/xds', '/xds/nothing', '/api', '/nothing']) {
      expect((await admin.request(path)).headers.get('deprecation'), path).to.equal('true');
    }
  });

  it('shows its name on /', async () => {
    expect((await admin.request('/')).text).to.contain('Developer API');
  });

  it('shows all snapshots, and one by its key', async () => {
    const all = JSON.parse((await admin.request('/xds')).text);
    expect(Object.keys(all)).to.deep.equal(['gw-system~gateway-proxy']);
    const one = JSON.parse((await admin.request('/xds/gw-system~gateway-proxy')).text);
    expect(one).to.deep.equal(all['gw-system~gateway-proxy']);
  });

  it('shows the resources in use', async () => {
    expect(JSON.parse((await admin.request('/api')).text)).to.include.keys('Secret', 'VirtualService');
  });

  for (const key of ['nothing', '__proto__', 'toString', '..%2f..%2fetc%2fpasswd']) {
    it(`returns 404 for the key ${key}`, async () => {
      const { status, text } = await admin.request(`/xds/${key}`);
      expect([status, JSON.parse(text).code]).to.deep.equal([404, 'ERR_ADMIN_NOT_FOUND']);
    });
  }

  it('returns 400 for a key with invalid percent-encoding', async () => {
    const { status, text } = await admin.request('/xds/%zz');
    expect([status, JSON.parse(text).code]).to.deep.equal([400, 'ERR_ADMIN_BAD_REQUEST']);
  });

  it('rejects methods other than GET and HEAD', async () => {
    for (const path of ['/', '/xds', '/xds/nothing', '/api']) {
      const { status, headers } = await admin.request(path, { method: 'POST' });
      expect([status, headers.get('allow')], path).to.deep.equal([405, 'GET, HEAD']);
    }
  });

  it('is empty before the first resources are read', async () => {
    const early = await listen(createDeveloperAdmin({ state: () => undefined }));
    const responses = [await early.request('/xds'), await early.request('/api')];
    await early.close();
    expect(responses.map(({ text }) => text)).to.deep.equal(['{}\n', '{}\n']);
  });
});
