import { expect } from 'chai';
import { createDeveloperAdmin } from '../src/index.ts';
import { STATE } from './control/control-sample.ts';
import { listen, type Asked } from './sample.ts';

describe('the developer port', () => {
  let admin: Asked;
  before(async () => (admin = await listen(createDeveloperAdmin({ state: () => STATE }))));
  after(() => admin.close());

  it('says on every answer that it is deprecated', async () => {
    for (const path of ['/', '/xds', '/xds/nothing', '/api', '/nothing']) {
      expect((await admin.ask(path)).headers.get('deprecation'), path).to.equal('true');
    }
  });

  it('names itself on /', async () => {
    expect((await admin.ask('/')).text).to.contain('Developer API');
  });

  it('shows all snapshots, and one by its key', async () => {
    const all = JSON.parse((await admin.ask('/xds')).text);
    expect(Object.keys(all)).to.deep.equal(['gw-system~gateway-proxy']);
    const one = JSON.parse((await admin.ask('/xds/gw-system~gateway-proxy')).text);
    expect(one).to.deep.equal(all['gw-system~gateway-proxy']);
  });

  it('shows the resources in use', async () => {
    expect(JSON.parse((await admin.ask('/api')).text)).to.include.keys('Secret', 'VirtualService');
  });

  for (const key of ['nothing', '__proto__', 'toString', '..%2f..%2fetc%2fpasswd']) {
    it(`answers 404 for the key ${key}`, async () => {
      const { status, text } = await admin.ask(`/xds/${key}`);
      expect([status, JSON.parse(text).code]).to.deep.equal([404, 'ERR_ADMIN_NOT_FOUND']);
    });
  }

  it('answers 400 for a key that is not encoded as a URL demands', async () => {
    const { status, text } = await admin.ask('/xds/%zz');
    expect([status, JSON.parse(text).code]).to.deep.equal([400, 'ERR_ADMIN_BAD_REQUEST']);
  });

  it('refuses other methods than GET', async () => {
    for (const path of ['/', '/xds', '/xds/nothing', '/api']) {
      const { status, headers } = await admin.ask(path, { method: 'POST' });
      expect([status, headers.get('allow')], path).to.deep.equal([405, 'GET, HEAD']);
    }
  });

  it('has nothing to show before the first resources are read', async () => {
    const early = await listen(createDeveloperAdmin({ state: () => undefined }));
    const answers = [await early.ask('/xds'), await early.ask('/api')];
    await early.close();
    expect(answers.map(({ text }) => text)).to.deep.equal(['{}\n', '{}\n']);
  });
});
