import { expect } from 'chai';
import { parse } from 'yaml';
import { call } from '../support/captured-io.ts';
import { createDirectory, SHOP, type ResourceDirectory } from '../support/directory.ts';

describe('delete', () => {
  let directory: ResourceDirectory;
  beforeEach(() => {
    directory = createDirectory();
    directory.write('shop.yaml', SHOP);
  });
  afterEach(() => directory.remove());
  const gw = (...argv: string[]) => directory.call(argv);

  it('removes a resource from its file, and the file with the last one', async () => {
    expect(await gw('delete', 'virtualservice', 'shop')).to.deep.equal({
      code: 0,
      stdout: 'virtualservice shop deleted',
      stderr: '',
    });
    expect(directory.read('shop.yaml')).to.equal(SHOP.split('---')[0]);
    expect((await gw('d', 'us', '--name', 'cart')).stdout).to.equal('upstream cart deleted');
    expect(directory.names()).to.deep.equal([]);
  });

  it('does not delete what other resources refer to, unless forced', async () => {
    const { code, stdout, stderr } = await gw('delete', 'upstream', 'cart');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(
      /^Error: the change was not written.*\n\t\* resources\/shop\.yaml:\d+:\d+ .*gw-system\.cart/,
    );
    expect(directory.read('shop.yaml')).to.equal(SHOP);
    expect((await gw('delete', 'upstream', 'cart', '--force')).code).to.equal(0);
  });

  it('prints the resource with --dry-run, and deletes nothing', async () => {
    const { code, stdout, stderr } = await gw('delete', 'vs', 'shop', '--dry-run');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'virtualservice shop would be deleted\n' });
    expect(parse(stdout)).to.have.nested.property('metadata.name', 'shop');
    expect(directory.read('shop.yaml')).to.equal(SHOP);
  });

  it('deletes a rejected resource', async () => {
    directory.write(
      'bad.yaml',
      'apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: { name: bad }\nspec: { x: 1 }\n',
    );
    expect((await gw('delete', 'upstream', 'bad')).stdout).to.equal('upstream bad deleted');
    expect(directory.names()).to.deep.equal(['shop.yaml']);
  });

  it('requires a kind', async () => {
    expect((await call(['delete'])).stderr).to.match(/^Error: please provide a subcommand: virtualservice, /);
    expect((await call(['delete', 'virtalservice', 'x'])).stderr).to.match(
      /^Error: unknown kind "virtalservice": did you mean "virtualservice"\?/,
    );
  });

  it('reports a misspelt kind before options that only the kinds know', async () => {
    expect((await gw('delete', 'upstrem', 'cart')).stderr).to.match(
      /^Error: unknown kind "upstrem": did you mean "upstream"\?/,
    );
    expect((await gw('get', 'upstrem', 'cart')).stderr).to.match(
      /^Error: unknown kind "upstrem": did you mean "upstream"\?/,
    );
    expect(await call(['delete', '--hlep', 'upstream'])).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: 'Error: unknown option \'--hlep\' (did you mean "--help"?)\n',
    });
    expect((await call(['proxy', '--zzz=1'])).stderr).to.equal("Error: unknown option '--zzz'\n");
  });

  for (const [argv, code, message] of [
    [['vs'], 2, 'missing name: pass it as argument or with --name'],
    [['vs', 'a', '--name', 'b'], 2, 'the resource cannot be called both a and b'],
    [['vs', 'shpo'], 1, 'VirtualService gw-system/shpo not found (did you mean "shop"?)'],
    [['proxy', 'gateway-proxy'], 1, 'Proxy gw-system/gateway-proxy not found'],
  ] as const)
    it(`rejects delete ${argv.join(' ')}`, async () => {
      const outcome = await gw('delete', ...argv);
      expect(outcome).to.include({ code, stdout: '' });
      expect(outcome.stderr).to.contain(`Error: ${message}`);
      expect(directory.read('shop.yaml')).to.equal(SHOP);
    });
});
