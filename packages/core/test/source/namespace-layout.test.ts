import { expect } from 'chai';
import { parseDocuments } from '../../src/parse/parse.ts';
import { fromNamespaceLayout } from '../../src/source/namespace-layout.ts';
import { validateWritten } from '../../src/validate/validate.ts';

const read = (path: string, text: string) => {
  const [document, ...others] = fromNamespaceLayout(parseDocuments(text, path), path);
  expect(others).to.deep.equal([]);
  return validateWritten(document!);
};
const HOSTS = 'static:\n  hosts:\n  - addr: 127.0.0.1\n    port: 80\n';

describe('fromNamespaceLayout', () => {
  it('reads the spec beside the metadata', () => {
    const { key, issues, resource } = read(
      'upstreams/infra/a.yaml',
      `metadata:\n  name: a\n  namespace: infra\n${HOSTS}`,
    );
    expect(issues).to.deep.equal([]);
    expect(key).to.equal('Upstream/infra/a');
    expect(resource).to.deep.include({ kind: 'Upstream', apiVersion: 'gw.vendor.io/v1' });
    expect(resource!.spec).to.deep.equal({ static: { hosts: [{ addr: '127.0.0.1', port: 80 }] } });
  });

  it('takes namespace and name from the path if they are missing, in deeper folders too', () => {
    expect(read('config/upstreams/infra/a.yaml', HOSTS).key).to.equal('Upstream/infra/a');
    expect(read('upstreams/infra/a.yaml', `metadata: {name: b}\n${HOSTS}`).key).to.equal('Upstream/infra/b');
    const labelled = read('upstreams/infra/a.yaml', `metadata: {labels: {x: y}}\n${HOSTS}`);
    expect(labelled.resource!.metadata.labels).to.deep.equal({ x: 'y' });
  });

  it('ignores statuses', () => {
    const written = `${HOSTS}status: {state: 1}\nnamespacedStatuses: {statuses: {}}\n`;
    expect(read('upstreams/infra/a.yaml', written).issues).to.deep.equal([]);
  });

  it('reads secrets and config maps', () => {
    const secret = read('secrets/infra/tls.yaml', 'type: Opaque\nstringData: {key: value}\n');
    expect(secret.key).to.equal('Secret/infra/tls');
    expect(secret.resource!.spec).to.deep.equal({ type: 'Opaque', data: { key: 'dmFsdWU=' } });
    for (const folder of ['configmaps', 'artifacts']) {
      expect(read(`${folder}/infra/a.yaml`, 'data: {key: value}\n').key).to.equal('ConfigMap/infra/a');
    }
  });

  it('reports problems at the written fields', () => {
    const { issues, resource } = read('upstreams/infra/a.yaml', `${HOSTS}colour: red\n`);
    expect(resource).to.equal(undefined);
    expect(issues.map(({ code, origin: { line } }) => [code, line])).to.deep.equal([['UNKNOWN_KEY', 5]]);
    const wrong = read('upstreams/infra/a.yaml', 'static:\n  hosts:\n  - addr: 127.0.0.1\n    port: x\n');
    expect(wrong.issues.map(({ code, origin: { line } }) => [code, line])).to.deep.equal([['WRONG_TYPE', 4]]);
    expect(read('secrets/infra/a.yaml', 'type: Opaque\ndata: {a: "%"}\n').issues[0]).to.deep.include({
      code: 'BAD_BASE64',
    });
  });

  it('rejects an invalid name in the path or the metadata', () => {
    expect(read('upstreams/infra/A_b.yaml', HOSTS).issues[0]).to.include({ code: 'BAD_NAME' });
    expect(read('upstreams/Infra/a.yaml', HOSTS).issues[0]).to.include({ code: 'BAD_NAME' });
    expect(read('upstreams/infra/a.yaml', `metadata: a\n${HOSTS}`).issues[0]).to.include({ code: 'WRONG_TYPE' });
  });

  it('leaves other documents and folders as they are', () => {
    const usual = parseDocuments('apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: {name: a}\nspec: {}\n', 'a');
    expect(fromNamespaceLayout(usual, 'upstreams/infra/a.yaml')).to.deep.equal(usual);
    const bare = parseDocuments(HOSTS, 'a');
    for (const path of ['a.yaml', 'infra/a.yaml', 'us/infra/a.yaml', 'things/infra/a.yaml', 'upstreams/a.yaml']) {
      expect(fromNamespaceLayout(bare, path), path).to.deep.equal(bare);
    }
    const broken = parseDocuments('a: [', 'a');
    expect(fromNamespaceLayout(broken, 'upstreams/infra/a.yaml')).to.deep.equal(broken);
  });
});
