import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { changedLines, createDirectory, SHOP, type ResourceDirectory } from '../support/directory.ts';
import { call } from '../support/captured-io.ts';
import { start } from '../support/process.ts';

let directory: ResourceDirectory;
beforeEach(() => {
  directory = createDirectory();
  directory.write('shop.yaml', SHOP);
});
afterEach(() => directory.remove());
const gw = (...argv: string[]) => directory.call(argv);
/** The changed lines of the file after a call that succeeds. */
async function changes(...argv: string[]): Promise<string[]> {
  const { code, stderr } = await gw(...argv);
  const others = stderr.replace(/^removed route .*\n/, '');
  expect({ code, others }, argv.join(' ')).to.deep.equal({ code: 0, others: '' });
  return changedLines(SHOP, directory.read('shop.yaml'));
}
const firstRoute = (): any =>
  (parseAllDocuments(directory.read('shop.yaml')).at(-1)!.toJS() as any).spec.virtualHost.routes[0];

describe('add route', () => {
  it('inserts a route at the beginning, keeps everything else, and prints the table', async () => {
    const { code, stdout, stderr } = await gw('add', 'route', '-p', '/cart', '-u', 'cart');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(`\
+-----------------+--------------+---------+------+----------+-----------------+------------------------------------+
| VIRTUAL SERVICE | DISPLAY NAME | DOMAINS | SSL  | STATUS   | LISTENERPLUGINS | ROUTES                             |
+-----------------+--------------+---------+------+----------+-----------------+------------------------------------+
| shop            |              | *       | none | Accepted |                 | /cart -> gw-system.cart (upstream) |
|                 |              |         |      |          |                 | /health -> 200                     |
|                 |              |         |      |          |                 | / -> gw-system.cart (upstream)     |
+-----------------+--------------+---------+------+----------+-----------------+------------------------------------+
`);
    const route = `    - matchers:
      - prefix: /cart
      routeAction:
        single:
          upstream:
            name: cart
            namespace: gw-system
`;
    expect(directory.read('shop.yaml')).to.equal(SHOP.replace('    # health first\n', `${route}$&`));
  });

  const toCart = { routeAction: { single: { upstream: { name: 'cart', namespace: 'gw-system' } } } };
  for (const [argv, route] of [
    [['-e', '/a', '-u', 'cart'], { matchers: [{ exact: '/a' }], ...toCart }],
    [['-r', '/a.*', '-u', 'cart'], { matchers: [{ regex: '/a.*' }], ...toCart }],
    [
      ['-p', '/a', '-m', 'get, POST', '-u', 'cart'],
      { matchers: [{ prefix: '/a', methods: ['GET', 'POST'] }], ...toCart },
    ],
    [
      ['-p', '/a', '-d', 'x-a=1.*,x-b', '-q', 'q=[0-9]+', '-u', 'cart'],
      {
        matchers: [
          {
            prefix: '/a',
            headers: [{ name: 'x-a', value: '1.*', regex: true }, { name: 'x-b' }],
            queryParameters: [{ name: 'q', value: '[0-9]+', regex: true }],
          },
        ],
        ...toCart,
      },
    ],
    [
      ['-p', '/a', '-u', 'cart', '--prefix-rewrite', '/'],
      { matchers: [{ prefix: '/a' }], ...toCart, options: { prefixRewrite: '/' } },
    ],
  ] as const)
    it(`writes ${argv.join(' ')}`, async () => {
      await changes('add', 'route', ...argv);
      expect(firstRoute()).to.deep.equal(route);
    });

  it('forwards to upstream groups, delegates to route tables, and calls functions', async () => {
    const of = async (...argv: string[]) => {
      const { code, stdout } = await gw('add', 'route', '-p', '/a', ...argv, '--dry-run', '--force', '-o', 'kube-yaml');
      expect(code).to.equal(0);
      return (parse(stdout) as any).spec.virtualHost.routes[0] as object;
    };
    expect(await of('--upstream-group-name', 'g', '--upstream-group-namespace', 'n')).to.deep.include({
      routeAction: { upstreamGroup: { name: 'g', namespace: 'n' } },
    });
    expect(await of('--delegate-name', 't')).to.deep.include({
      delegateAction: { ref: { name: 't', namespace: 'gw-system' } },
    });
    const rest = { functionName: 'f', parameters: { headers: { 'x-id': '{id}' }, path: '/{id}' } };
    expect(await of('-u', 'cart', '-f', 'f', '--rest-parameters', 'x-id={id},:path=/{id}')).to.deep.include({
      routeAction: { single: { ...toCart.routeAction.single, destinationSpec: { rest } } },
    });
    const aws = { logicalName: 'l', responseTransformation: true, unwrapAsAlb: true, unwrapAsApiGateway: true };
    const flags = ['--aws-unescape', '--aws-alb-unwrap', '--aws-api-gw-unwrap'];
    expect(await of('-u', 'cart', '-a', 'l', ...flags)).to.deep.include({
      routeAction: { single: { ...toCart.routeAction.single, destinationSpec: { aws } } },
    });
  });

  it('inserts at an index, up to the end', async () => {
    await changes('add', 'route', '--name', 'shop', '-p', '/z', '-u', 'cart', '-x', '2');
    const { stderr, code } = await gw('add', 'route', '--name', 'shop', '-p', '/y', '-u', 'cart', '-x', '4');
    expect({ stderr, code }).to.deep.equal({
      code: 1,
      stderr: 'Error: 4 is greater than the number of routes on shop: choose one from 0 to 3\n',
    });
  });

  it('creates the virtual service default if none serves all domains', async () => {
    directory.write('shop.yaml', SHOP.replace("domains: ['*']", 'domains: [shop.example]'));
    const { code, stderr } = await gw('add', 'route', '-p', '/', '-u', 'cart');
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: 'VirtualService default: resources/virtualservice-gw-system-default.yaml\n',
    });
    expect(directory.read('virtualservice-gw-system-default.yaml')).to.equal(`\
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata:
  name: default
  namespace: gw-system
spec:
  virtualHost:
    domains:
      - '*'
    routes:
      - matchers:
          - prefix: /
        routeAction:
          single:
            upstream:
              name: cart
              namespace: gw-system
`);
  });

  it('adds to a route table, which it creates', async () => {
    const argv = ['add', 'route', '--to-route-table', '--name', 'table', '-p', '/a', '-u', 'cart'];
    expect((await gw(...argv)).stdout).to.contain('| table       | /a -> gw-system.cart (upstream) |');
    expect((await gw(...argv, '-x', '1')).code).to.equal(0);
    expect((parse(directory.read('routetable-gw-system-table.yaml')) as any).spec.routes).to.have.length(2);
  });

  it('prints kube-yaml with --dry-run, and writes nothing', async () => {
    const { code, stdout } = await gw('add', 'route', '-p', '/cart', '-u', 'cart', '--dry-run');
    expect(code).to.equal(0);
    expect((parse(stdout) as any).spec.virtualHost.routes).to.have.length(3);
    expect(directory.read('shop.yaml')).to.equal(SHOP);
    expect(
      (JSON.parse((await gw('add', 'route', '-p', '/x', '-u', 'cart', '--dry-run', '-o', 'json')).stdout) as any[])[0]
        .kind,
    ).to.equal('VirtualService');
  });

  it('does not write a change that would be rejected, and names file, line and field', async () => {
    expect(await gw('add', 'route', '-p', '/a//b', '-u', 'cart')).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: `Error: the change was not written, because it would be rejected (--force writes it):
\t* resources/shop.yaml:20:9  VirtualService gw-system/shop  spec.virtualHost.routes[0].matchers[0].prefix  the path '/a//b' must not contain '//'
`,
    });
    const { code, stderr } = await gw('add', 'route', '-p', '/a', '-u', 'crat');
    expect(code).to.equal(1);
    expect(stderr).to.match(/\* resources\/shop\.yaml:23:11 .* \*v1\.Upstream \{ gw-system\.crat \} not found/);
    expect(directory.read('shop.yaml')).to.equal(SHOP);
    expect(directory.names()).to.deep.equal(['shop.yaml']);
  });

  it('writes it with --force, and prints the problems', async () => {
    const { code, stderr } = await gw('add', 'route', '-p', '/a', '-u', 'crat', '--force');
    expect(code).to.equal(0);
    expect(stderr).to.match(/^Warning: resources\/shop\.yaml:23:11 .*gw-system\.crat.*\n$/);
    expect(directory.read('shop.yaml')).to.contain('crat');
    // What was wrong before does not prevent another change.
    expect((await gw('add', 'route', '-p', '/b', '-u', 'cart')).code).to.equal(0);
  });

  for (const [argv, message] of [
    [['-u', 'cart'], 'exactly one of --path-prefix, --path-exact and --path-regex is required'],
    [['-p', '/', '-e', '/', '-u', 'cart'], 'exactly one of --path-prefix, --path-exact and --path-regex is required'],
    [['-p', '/'], 'exactly one of --dest-name, --upstream-group-name and --delegate-name is required'],
    [
      ['-p', '/', '-u', 'a', '--delegate-name', 'b'],
      'exactly one of --dest-name, --upstream-group-name and --delegate-name is required',
    ],
    [['-p', '/', '--delegate-name', 'b', '-s', 'x'], '--dest-namespace requires --dest-name'],
    [
      ['-p', '/', '-u', 'a', '--upstream-group-namespace', 'x'],
      '--upstream-group-namespace requires --upstream-group-name',
    ],
    [['-p', '/', '-u', 'a', '--delegate-namespace', 'x'], '--delegate-namespace requires --delegate-name'],
    [['-p', '/', '-u', 'a', '--aws-unescape'], '--aws-unescape requires --aws-function-name'],
    [['-p', '/', '-u', 'a', '--rest-parameters', 'a=b'], '--rest-parameters requires --rest-function-name'],
    [['-p', '/', '-u', 'a', '-a', 'x', '-f', 'y'], '--aws-function-name and --rest-function-name cannot be combined'],
    [['-e', '/', '--delegate-name', 'b'], '--delegate-name requires --path-prefix'],
    [['-p', '/', '-u', 'a', '-d', '=x'], '--header must have the form name=value,name=value'],
    [['-p', '/', '-u', 'a', '-q', 'a=1,a=2'], '--queryParameter names a twice'],
    [['-p', '/', '-u', 'a', '-x', '-1'], "--index must be a number from 0, not '-1'"],
    [['-p', '/', '-u', 'a', '--to-route-table'], 'missing --name'],
  ] as const)
    it(`rejects ${argv.join(' ')}`, async () => {
      expect(await gw('add', 'route', ...argv)).to.deep.equal({ code: 2, stdout: '', stderr: `Error: ${message}\n` });
      expect(directory.read('shop.yaml')).to.equal(SHOP);
    });

  it('rejects an unknown virtual service, an ambiguous one, and a missing --config', async () => {
    const add = (...argv: string[]) => gw('add', 'route', '-p', '/', '-u', 'cart', ...argv);
    expect((await add('--name', 'shpo')).stderr).to.equal(
      'Error: VirtualService gw-system/shpo not found (did you mean "shop"?)\n',
    );
    expect((await add('--name', 'shop', '-n', 'other')).stderr).to.equal(
      'Error: VirtualService other/shop not found; there is one in gw-system (-n)\n',
    );
    directory.write(
      'other.yaml',
      SHOP.split('---\n')[1]!.replace('name: shop', 'name: shop2').replace("'*'", "'x.example'"),
    );
    expect((await add()).code).to.equal(0);
    const nowhere = await call(['add', 'route', '-p', '/', '-u', 'cart'], { cwd: directory.cwd });
    expect(nowhere).to.include({
      code: 2,
      stderr:
        'Error: pass --config DIR to name the directory of the resources, or --kube-context NAME for those of a cluster\n',
    });
    const env = { GATEWAY_CONFIG: 'resources' };
    expect((await call(['add', 'route', '-p', '/', '-u', 'cart'], { cwd: directory.cwd, env })).code).to.equal(0);
  });

  it('does not change a file with a syntax error, and a resource that exists twice', async () => {
    directory.write('shop.yaml', SHOP.replace('hosts: [{', 'hosts: [['));
    const broken = await gw('add', 'route', '--name', 'shop', '-p', '/', '-u', 'cart');
    expect(broken.code).to.equal(2);
    expect(broken.stderr).to.match(/^Error: the file cannot be changed: resources\/shop\.yaml:7:\d+ /);
    directory.write('shop.yaml', SHOP);
    directory.write('twice.yaml', SHOP.split('---\n')[1]!);
    expect((await gw('add', 'route', '--name', 'shop', '-p', '/', '-u', 'cart')).stderr).to.equal(
      'Error: VirtualService gw-system/shop exists more than once: in resources/shop.yaml and resources/twice.yaml\n',
    );
  });

  it('loses no change of several processes at once, and none when interrupted', async function () {
    this.timeout(120_000);
    const add = (path: string) =>
      start(['add', 'route', '--name', 'shop', '-p', path, '-u', 'cart', '-c', 'resources'], { cwd: directory.cwd });
    const calls = ['/a', '/b', '/c'].map(add);
    for (const { ended } of calls) expect((await ended).code).to.equal(0);
    const text = directory.read('shop.yaml');
    for (const path of ['/a', '/b', '/c']) expect(text).to.contain(`prefix: ${path}\n`);
    const { child, ended } = add('/d');
    child.kill('SIGINT');
    await ended;
    expect((await gw('get', 'vs', 'shop')).code).to.equal(0);
    expect(directory.names()).to.deep.equal(['shop.yaml']);
  });
});

describe('remove route', () => {
  it('removes a route with its comments', async () => {
    expect(await changes('remove', 'route', '--name', 'shop')).to.deep.equal([
      '-    # health first',
      '-    - matchers: [{exact: /health}]',
      '-      directResponseAction: {status: 200}   # fine',
      '-',
      '-',
    ]);
    await changes('rm', 'r', '--name', 'shop', '-x', '0');
    expect((await gw('remove', 'route', '--name', 'shop')).stderr).to.equal(
      'Error: 0 is greater than the number of routes on shop: it has no routes\n',
    );
  });

  it('names the route that it removes, or would remove', async () => {
    const removed = 'route 0 of VirtualService gw-system/shop: /health -> 200\n';
    const dry = await gw('remove', 'route', '--name', 'shop', '--dry-run');
    expect(dry.stderr).to.equal(`would remove ${removed}`);
    expect(parse(dry.stdout)).to.have.nested.property('spec.virtualHost.routes').with.length(1);
    expect(directory.read('shop.yaml')).to.equal(SHOP);
    expect((await gw('remove', 'route', '--name', 'shop')).stderr).to.equal(`removed ${removed}`);
  });

  it('removes one of a route table', async () => {
    await gw('add', 'route', '--to-route-table', '--name', 'table', '-p', '/a', '-u', 'cart');
    expect((await gw('remove', 'route', '--from-route-table', '--name', 'table')).code).to.equal(0);
    expect((parse(directory.read('routetable-gw-system-table.yaml')) as any).spec.routes).to.deep.equal([]);
  });

  it('requires a name and a valid index', async () => {
    expect((await gw('remove', 'route')).stderr).to.equal('Error: missing --name\n');
    expect(await gw('remove', 'route', '--name', 'shop', '-x', '2')).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'Error: 2 is greater than the number of routes on shop: choose one from 0 to 1\n',
    });
    expect((await gw('remove', 'route', '--name', 'shop', '-x', 'one')).code).to.equal(2);
    expect((await call(['remove'])).stderr).to.equal('Error: please provide a subcommand: route\n');
    expect(directory.read('shop.yaml')).to.equal(SHOP);
  });
});

describe('route sort', () => {
  it('sorts routes with their comments, and prints the rules and the table', async () => {
    await gw('add', 'route', '--name', 'shop', '-p', '/cart', '-u', 'cart', '-x', '2');
    const { code, stdout, stderr } = await gw('route', 'sort', '--name', 'shop');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(
      /^sorting 3 routes by:\n- more methods first\n- no path < exact < regex < prefix\n- path in descending order\n\+--/,
    );
    const paths = [...directory.read('shop.yaml').matchAll(/(?:exact|prefix): ([^}\s]+)/g)].map(([, path]) => path);
    expect(paths).to.deep.equal(['/health', '/cart', '/']);
    expect(directory.read('shop.yaml')).to.contain('    # health first\n').and.to.contain('    # the rest\n');
  });

  it('prints the rules on standard error in other formats', async () => {
    const { stdout, stderr } = await gw('route', 'sort', '--name', 'shop', '-o', 'json');
    expect(JSON.parse(stdout)).to.have.length(1);
    expect(stderr).to.match(/^sorting 2 routes by:\n/);
    expect(directory.read('shop.yaml')).to.equal(SHOP);
  });

  it('requires a name that exists', async () => {
    expect((await gw('route', 'sort')).code).to.equal(2);
    expect((await gw('route', 'sort', '--name', 'none')).code).to.equal(1);
  });
});
