import { chmodSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createDirectory, SHOP, type ResourceDirectory } from '../support/directory.ts';
import { call } from '../support/captured-io.ts';

const FORMATTED = `# The shop.
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: cart } # the cart
spec:
  static:
    hosts: [{ addr: 127.0.0.1, port: 8081 }]
---
# Everything else
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata:
  name: shop
  namespace: gw-system
spec:
  virtualHost:
    domains: ['*']
    routes:
      # health first
      - matchers: [{ exact: /health }]
        directResponseAction: { status: 200 } # fine

      # the rest
      - matchers: [{ prefix: / }]
        routeAction:
          single:
            upstream: { name: cart, namespace: gw-system }
`;

describe('fmt', () => {
  let directory: ResourceDirectory;
  beforeEach(() => (directory = createDirectory()));
  afterEach(() => directory.remove());
  const fmt = (...argv: string[]) => call(['fmt', ...argv], { cwd: directory.cwd });
  const pipe = async (text: string, ...argv: string[]) =>
    call(['fmt', '-', ...argv], { cwd: directory.cwd, stdin: Readable.from([text]) });

  it('writes files in their canonical form, once, and keeps comments and modes', async () => {
    directory.write('a.yaml', SHOP);
    directory.write('b.yaml', FORMATTED);
    chmodSync(directory.path('a.yaml'), 0o640);
    expect(await fmt('resources')).to.deep.equal({
      code: 0,
      stdout: 'resources/a.yaml\n',
      stderr: '2 files, 1 formatted\n',
    });
    expect(directory.read('a.yaml')).to.equal(FORMATTED);
    expect(statSync(directory.path('a.yaml')).mode & 0o777).to.equal(0o640);
    expect(await fmt('resources')).to.deep.equal({ code: 0, stdout: '', stderr: '2 files, 0 formatted\n' });
  });

  it('only lists files with --check', async () => {
    directory.write('a.yaml', SHOP);
    expect(await fmt('--check', 'resources')).to.deep.equal({
      code: 1,
      stdout: 'resources/a.yaml\n',
      stderr: '1 file, 1 not formatted\n',
    });
    expect(directory.read('a.yaml')).to.equal(SHOP);
    directory.write('a.yaml', FORMATTED);
    expect((await fmt('--check', 'resources/a.yaml')).code).to.equal(0);
  });

  for (const [what, before, after] of [
    [
      'the order of fields',
      'spec: { b: 1, a: 2 }\nkind: A # k\nmetadata: { namespace: n, name: a }\napiVersion: v1\n',
      'apiVersion: v1\nkind: A # k\nmetadata: { name: a, namespace: n }\nspec: { b: 1, a: 2 }\n',
    ],
    [
      'comments above moved fields',
      '# spec first\nspec: {}\n# then kind\nkind: A\n',
      '# then kind\nkind: A\n# spec first\nspec: {}\n',
    ],
    [
      'quotes',
      'a: "x"\nb: "it\'s"\nc: "\\n"\nd: \'y\'\ne: "yes"\n',
      "a: 'x'\nb: \"it's\"\nc: \"\\n\"\nd: 'y'\ne: 'yes'\n",
    ],
    ['brackets, but not in texts', 'a: [ 1,2 ]\nb: {c: 1}\nd: "[ x ]"\n', "a: [1, 2]\nb: { c: 1 }\nd: '[ x ]'\n"],
    ['empty lines', 'a: 1\n\n\n\nb: 2\n', 'a: 1\n\nb: 2\n'],
    ['indentation', 'a:\n    b:\n    - c\n    - d:  1\n', 'a:\n  b:\n    - c\n    - d: 1\n'],
    ['the first document marker', '---\na: 1\n---\nb: 2\n', 'a: 1\n---\nb: 2\n'],
    ['line breaks of Windows and a byte order mark', '\uFEFFa: 1\r\nb: 2\r\n', 'a: 1\nb: 2\n'],
    ['the end of the file', 'a: 1', 'a: 1\n'],
    ['block texts, which stay as they are', 'a: |\n  x: [ y ]\n\n\n  z\n', 'a: |\n  x: [ y ]\n\n\n  z\n'],
    ['anchors', 'a: &x [ 1 ]\nb:   *x\n', 'a: &x [1]\nb: *x\n'],
    ['only comments', '# nothing\n', '# nothing\n'],
  ] as const)
    it(`formats ${what}`, async () => {
      expect(await pipe(before)).to.deep.equal({ code: 0, stdout: after, stderr: '' });
      expect(await pipe(after)).to.deep.equal({ code: 0, stdout: after, stderr: '' });
      expect((await pipe(before, '--check')).code).to.equal(before === (after as string) ? 0 : 1);
    });

  it('formats JSON', async () => {
    directory.write('a.json', '{"kind":"Upstream",\n"spec":{}}');
    expect((await fmt('resources')).code).to.equal(0);
    expect(directory.read('a.json')).to.equal('{\n  "kind": "Upstream",\n  "spec": {}\n}\n');
  });

  it('leaves a file with a syntax error as it is, and formats the others', async () => {
    directory.write('a.yaml', 'a: [');
    directory.write('b.yaml', SHOP);
    directory.write('c.yaml', 'a: 1\na: 2\n');
    const { code, stdout, stderr } = await fmt('resources');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: 'resources/b.yaml\n' });
    expect(stderr).to.match(
      /^resources\/a\.yaml:1:\d.*\nresources\/c\.yaml:2:1 .*duplicate key.*\n3 files, 1 formatted, 2 with errors\n$/,
    );
    expect(directory.read('a.yaml')).to.equal('a: [');
    expect((await pipe('a: [')).code).to.equal(2);
  });

  it('rejects a missing file, and standard input beside files', async () => {
    expect(await fmt('none.yaml')).to.include({ code: 2, stderr: 'Error: none.yaml: no such file or directory\n' });
    expect((await pipe('', 'resources')).stderr).to.equal('Error: - cannot be combined with other paths\n');
    expect((await fmt()).code).to.equal(2);
  });
});
