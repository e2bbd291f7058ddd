import { expect } from 'chai';
import { parse } from 'yaml';
import { ResourceFile } from '../../src/edit/resource-file.ts';
import { changedLines, SHOP } from '../support/directory.ts';

const UPSTREAM = { kind: 'Upstream', namespace: 'gw-system', name: 'cart' };
const SERVICE = { kind: 'VirtualService', namespace: 'gw-system', name: 'shop' };
const ROUTES = ['spec', 'virtualHost', 'routes'];
const HOSTS = ['spec', 'static', 'hosts'];

/** Changes a file and returns its text. */
function changed(text: string, change: (file: ResourceFile) => unknown, name = 'a.yaml'): string {
  const file = new ResourceFile(text, name);
  change(file);
  return file.toText();
}

describe('ResourceFile', () => {
  it('returns the same text if nothing changes', () => {
    for (const text of [SHOP, SHOP.replaceAll('\n', '\r\n'), `\uFEFF${SHOP}`, '# only a comment\n', 'a: {b: 1}'])
      expect(changed(text, () => {})).to.equal(text);
  });

  it('finds a resource by kind, namespace and name, also in a list', () => {
    const list = `kind: List\nitems:\n  - ${SHOP.split('---')[0]!.trim().replaceAll('\n', '\n    ').replace('# The shop.\n    ', '')}\n`;
    expect(new ResourceFile(list, 'a.yaml').find(UPSTREAM)?.get(HOSTS)).to.deep.equal([
      { addr: '127.0.0.1', port: 8081 },
    ]);
    expect(new ResourceFile(SHOP, 'a.yaml').find(SERVICE)?.get(['metadata', 'name'])).to.equal('shop');
    expect(new ResourceFile(SHOP, 'a.yaml').find({ ...SERVICE, namespace: 'other' })).to.equal(undefined);
    expect(new ResourceFile(SHOP, 'a.yaml').find({ ...SERVICE, kind: 'RouteTable' })).to.equal(undefined);
  });

  it('changes only the lines of a field', () => {
    const text = changed(SHOP, (file) =>
      file.find(SERVICE)!.set([...ROUTES, 0, 'directResponseAction', 'status'], 204),
    );
    expect(changedLines(SHOP, text)).to.deep.equal([
      '-      directResponseAction: {status: 200}   # fine',
      '+      directResponseAction: {status: 204} # fine',
    ]);
  });

  it('creates the fields on the way', () => {
    const text = changed(SHOP, (file) => file.find(SERVICE)!.set(['spec', 'sslConfig', 'secretRef', 'name'], 'tls'));
    expect(changedLines(SHOP, text)).to.deep.equal(['+  sslConfig:', '+    secretRef:', '+      name: tls']);
  });

  it('removes a field, and what is empty without it', () => {
    const set = changed(SHOP, (file) => file.find(SERVICE)!.set(['spec', 'sslConfig', 'secretRef', 'name'], 'tls'));
    expect(changed(set, (file) => file.find(SERVICE)!.unset(['spec', 'sslConfig', 'secretRef', 'name']))).to.equal(
      SHOP,
    );
    expect(changed(SHOP, (file) => file.find(SERVICE)!.unset(['spec', 'none', 'at', 'all']))).to.equal(SHOP);
  });

  it('moves comments with the elements of a list', () => {
    const text = changed(SHOP, (file) => file.find(SERVICE)!.reorder(ROUTES, [1, 0]));
    const order = ['# the rest', '{prefix: /}', '# health first', '{exact: /health}', '# fine'];
    const at = order.map((part) => text.indexOf(part));
    expect(at).to.deep.equal(at.toSorted((a, b) => a - b));
  });

  it('inserts and removes elements', () => {
    const route = { matchers: [{ prefix: '/x' }], directResponseAction: { status: 200 } };
    const text = changed(SHOP, (file) => file.find(SERVICE)!.insert(ROUTES, 1, route));
    expect(changedLines(SHOP, text)).to.deep.equal([
      '+    - matchers:',
      '+      - prefix: /x',
      '+      directResponseAction:',
      '+        status: 200',
    ]);
    expect(changed(text, (file) => file.find(SERVICE)!.remove(ROUTES, 1))).to.equal(SHOP);
    const into = changed('kind: VirtualService\nmetadata: {name: shop}\nspec: {}\n', (file) =>
      file.find(SERVICE)!.insert(ROUTES, 0, route),
    );
    expect(into).to.equal(`kind: VirtualService
metadata: {name: shop}
spec:
  virtualHost:
    routes:
      - matchers:
          - prefix: /x
        directResponseAction:
          status: 200
`);
  });

  it('keeps line breaks of Windows and a byte order mark', () => {
    for (const text of [SHOP.replaceAll('\n', '\r\n'), `\uFEFF${SHOP}`]) {
      const after = changed(text, (file) => file.find(UPSTREAM)!.set([...HOSTS, 0, 'port'], 9));
      expect(after).to.equal(text.replace('port: 8081', 'port: 9'));
    }
  });

  it('reads keys in snake_case', () => {
    const text = SHOP.replace('virtualHost', 'virtual_host').replace('directResponseAction', 'direct_response_action');
    const after = changed(text, (file) =>
      file.find(SERVICE)!.set([...ROUTES, 0, 'directResponseAction', 'status'], 204),
    );
    expect(after).to.equal(text.replace('{status: 200}   #', '{status: 204} #'));
  });

  it('changes a copy of an alias, never its anchor', () => {
    const text = `kind: Upstream
metadata: { name: cart }
spec:
  static:
    hosts: &hosts
      - { addr: a, port: 1 }
  other: *hosts
`;
    const after = changed(text, (file) => file.find(UPSTREAM)!.set(['spec', 'other', 0, 'port'], 2));
    const { spec } = parse(after) as { spec: { static: unknown; other: unknown } };
    expect(spec.static).to.deep.equal({ hosts: [{ addr: 'a', port: 1 }] });
    expect(spec.other).to.deep.equal([{ addr: 'a', port: 2 }]);
  });

  it('changes JSON, and keeps its indentation', () => {
    const value = {
      kind: 'Upstream',
      metadata: { name: 'cart' },
      spec: { static: { hosts: [{ addr: 'a', port: 1 }] } },
    };
    for (const indent of [2, 4, '\t']) {
      const text = `${JSON.stringify(value, undefined, indent)}\n`;
      const after = changed(text, (file) => file.find(UPSTREAM)!.set([...HOSTS, 0, 'port'], 2), 'a.json');
      expect(after).to.equal(text.replace('"port": 1', '"port": 2'));
    }
  });

  it('removes a resource, and reports that none is left', () => {
    const file = new ResourceFile(SHOP, 'a.yaml');
    expect(file.remove(SERVICE)).to.equal(true);
    expect(file.toText()).to.equal(SHOP.split('---')[0]);
    expect(file.remove(UPSTREAM)).to.equal(false);
  });

  it('edits a field as text with its comments', () => {
    const file = new ResourceFile(SHOP, 'a.yaml');
    const resource = file.find(SERVICE)!;
    expect(resource.textOf(['spec', 'sslConfig'])).to.equal('');
    expect(resource.textOf([...ROUTES, 0, 'matchers'])).to.equal('[ { exact: /health } ]\n');
    resource.setText(['spec', 'sslConfig'], '# from the CA\nsecretRef: { name: tls } # new\n');
    expect(changedLines(SHOP, file.toText())).to.deep.equal([
      '+  sslConfig:',
      '+    # from the CA',
      '+    secretRef: {name: tls} # new',
    ]);
  });
});
