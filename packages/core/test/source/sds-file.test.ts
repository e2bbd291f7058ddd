import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { secretText } from '../../src/contract/snapshot.ts';
import { memorySource } from '../../src/source/memory.ts';
import { sdsFiles } from '../../src/source/sds-file.ts';
import { fakeTime, type FakeTime } from '../../../../test/parts/fake-time.ts';

const CERTIFICATES = new URL('../../../routing/test/upstream/certificates/', import.meta.url).pathname;
const pem = (name: string): string => readFileSync(join(CERTIFICATES, name), 'utf8');

const inline = (text: string) => ({ inline_string: text });
const certificate = (name: string, secret = 'server') => ({
  '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
  name: secret,
  tls_certificate: { certificate_chain: inline(pem(`${name}.crt`)), private_key: inline(pem(`${name}.key`)) },
});
const roots = { name: 'roots', validation_context: { trusted_ca: inline(pem('ca.crt')) } };

describe('secret discovery files', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'sds-file-'));
    file = join(dir, 'sds.yaml');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const write = (content: unknown): void =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  const read = (more: object = {}) =>
    sdsFiles.read({ targetUri: file, certificatesSecretName: 'server', validationContextName: 'roots', ...more });
  const problem = (content: unknown, more: object = {}) => {
    write(content);
    const { content: secret, problem: found } = read(more);
    expect(secret).to.equal(undefined);
    expect(found!.message).not.to.include('PRIVATE KEY');
    return `${found!.path.join('.')}: ${found!.message.replaceAll(dir, '')}`;
  };

  it('contain certificate and root certificates as a discovery response in JSON', () => {
    write({ version_info: '1', resources: [certificate('client', 'other'), certificate('server'), roots] });
    const { content } = read();
    expect(secretText(content, 'tls.crt')).to.equal(pem('server.crt'));
    expect(secretText(content, 'tls.key')).to.equal(pem('server.key'));
    expect(secretText(content, 'ca.crt')).to.equal(pem('ca.crt'));
  });

  it('contain secrets as YAML documents, with inline bytes and files relative to their folder', () => {
    writeFileSync(join(dir, 'key.pem'), pem('server.key'));
    write(`name: server
tlsCertificate:
  certificateChain: { inlineBytes: ${Buffer.from(pem('server.crt')).toString('base64')} }
  privateKey: { filename: key.pem, watchedDirectory: { path: . } }
---
name: roots
validation_context: { trusted_ca: { filename: ${join(CERTIFICATES, 'ca.crt')} } }
`);
    const { content, paths } = read();
    expect(secretText(content, 'tls.key')).to.equal(pem('server.key'));
    expect(secretText(content, 'ca.crt')).to.equal(pem('ca.crt'));
    expect(paths).to.deep.equal([join(dir, 'key.pem'), join(CERTIFICATES, 'ca.crt')]);
  });

  it('are named by a path or a file URL, and are otherwise the address of a server', () => {
    write({ resources: [certificate('server')] });
    const named = (targetUri: string) => sdsFiles.pathsOf({ targetUri });
    expect(named(file)).to.deep.equal([file]);
    expect(named(pathToFileURL(file).href)).to.deep.equal([file]);
    expect(named('./sds.yaml')).to.deep.equal(['./sds.yaml']);
    const settings = (targetUri: string) => {
      const metadata = { name: 'a', namespace: 'gw-system' };
      const spec = { sslConfig: { sds: { targetUri, certificatesSecretName: 'server' } } };
      const origin = { file: 'memory:a', line: 1, column: 1 };
      return sdsFiles.filesOf({ apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec, origin });
    };
    expect(settings(file).map(({ at }) => at)).to.deep.equal([['spec', 'sslConfig', 'sds']]);
    expect(settings('127.0.0.1:8234')).to.deep.equal([]);
    expect(settings('file://elsewhere/sds.yaml')).to.deep.equal([]);
  });

  it('only give what is asked for', () => {
    write({ resources: [certificate('server'), roots] });
    expect(Object.keys(read({ certificatesSecretName: '' }).content!.data)).to.deep.equal(['ca.crt']);
    expect(Object.keys(read({ validationContextName: '' }).content!.data)).to.deep.equal(['tls.crt', 'tls.key']);
  });

  it('are rejected if they are missing or malformed, without their content', () => {
    expect(read().problem!.message).to.include('cannot be read: no such file');
    expect(problem('{ "resources": [')).to.match(/^targetUri: \/sds.yaml is not valid YAML or JSON: line \d+$/);
    expect(problem(pem('server.key'))).to.match(/^targetUri: \/sds.yaml (?:is not valid|contains no secrets)/);
    expect(problem('')).to.match(/^targetUri: \/sds.yaml is not valid/);
    expect(problem({ resources: 'all' })).to.equal('targetUri: /sds.yaml: resources must be a list of secrets');
    expect(problem({ resources: ['a'] })).to.equal('targetUri: /sds.yaml: resources must be a list of secrets');
    expect(problem(`a: &a [*a, *a]\n`)).to.match(/^targetUri: |^certificatesSecretName: /);
  });

  it('are rejected if a secret is missing, ambiguous or of another type', () => {
    expect(problem({ resources: [roots] })).to.equal("certificatesSecretName: the file contains no secret 'server'");
    const twice = [certificate('server'), certificate('client'), roots];
    expect(problem({ resources: twice })).to.equal(
      "certificatesSecretName: the file contains several secrets 'server'",
    );
    expect(problem({ resources: [certificate('server')] }, { validationContextName: 'server' })).to.equal(
      "validationContextName: secret 'server' has no validation_context",
    );
  });

  it('are rejected if a part is invalid or not supported', () => {
    const server = certificate('server');
    const spoilt = (part: object) =>
      problem({ resources: [{ ...server, tls_certificate: { ...server.tls_certificate, ...part } }, roots] });
    expect(spoilt({ private_key: inline(pem('client.key')) })).to.match(
      /^certificatesSecretName: .*does not belong to/,
    );
    expect(spoilt({ private_key: undefined })).to.equal(
      "certificatesSecretName: secret 'server' in /sds.yaml has no private_key",
    );
    expect(problem({ resources: [server, { name: 'roots', validation_context: {} }] })).to.equal(
      "validationContextName: secret 'roots' in /sds.yaml has no trusted_ca",
    );
    expect(spoilt({ private_key: {} })).to.match(/needs one of filename, inline_string and inline_bytes$/);
    expect(spoilt({ private_key: { ...inline('a'), filename: 'b' } })).to.match(/needs one of filename/);
    expect(spoilt({ private_key: { environment_variable: 'KEY' } })).to.match(/needs one of filename/);
    expect(spoilt({ private_key: { filename: 'none.pem' } })).to.equal(
      'certificatesSecretName: /none.pem cannot be read: no such file',
    );
    expect(spoilt({ password: inline('secret') })).to.equal(
      "certificatesSecretName: secret 'server' in /sds.yaml: password is not supported",
    );
    const context = { trusted_ca: inline(pem('ca.crt')), crl: inline('a') };
    expect(problem({ resources: [server, { ...roots, validation_context: context }] })).to.equal(
      "validationContextName: secret 'roots' in /sds.yaml: crl is not supported",
    );
    const bad = { trusted_ca: inline('no certificate') };
    expect(problem({ resources: [server, { ...roots, validation_context: bad }] })).to.match(
      /^validationContextName: .*does not contain a readable PEM certificate$/,
    );
  });
});

describe('secret discovery files of resources', () => {
  let dir: string;
  let controlPlane: ControlPlane;
  let time: FakeTime;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'sds-file-'));
    time = fakeTime();
  });
  afterEach(async () => {
    await controlPlane.close();
    time.restore();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Replaces a file as tools do, so that it is never seen half written. */
  function put(name: string, content: string): void {
    writeFileSync(join(dir, 'new'), content);
    renameSync(join(dir, 'new'), join(dir, name));
  }

  it('are watched with the files that they name, and keep their last valid content', async () => {
    put('tls.crt', pem('server.crt'));
    put('tls.key', pem('server.key'));
    const named = {
      name: 'server',
      tls_certificate: { certificate_chain: { filename: 'tls.crt' }, private_key: { filename: 'tls.key' } },
    };
    put('sds.json', JSON.stringify({ resources: [named] }));
    const sds = { targetUri: `file://${dir}/sds.json`, certificatesSecretName: 'server' };
    const resource = {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'a' },
      spec: { static: { hosts: [{ addr: '127.0.0.1', port: 1 }] }, sslConfig: { sds } },
    };
    const metrics = createMetrics();
    controlPlane = createControlPlane({ source: memorySource({ a: JSON.stringify(resource) }), metrics });
    await controlPlane.start();
    const served = (): string | undefined => secretText(controlPlane.secrets.sds!(sds), 'tls.crt');
    const status = () => controlPlane.state!.statuses.get('Upstream/gw-system/a')!.statuses['gw-system']!;
    expect(served()).to.equal(pem('server.crt'));
    expect(status()).to.include({ state: 'Accepted' });

    put('tls.key', pem('client.key'));
    put('tls.crt', pem('client.crt'));
    await time.until(() => served() === pem('client.crt'));

    put('sds.json', '{ "resources": [] }');
    await time.until(() => status().state === 'Warning');
    expect(status().reason).to.include(
      "spec.sslConfig.sds.certificatesSecretName: the file contains no secret 'server'; the previous content stays in use",
    );
    expect(served()).to.equal(pem('client.crt'));

    put('sds.json', JSON.stringify({ resources: [certificate('server')] }));
    await time.until(() => served() === pem('server.crt') && status().state === 'Accepted');
    const success = metrics.list().find(({ name }) => name.path === 'sds_files.update_success')!;
    expect((success.stat as { value: number }).value).to.equal(2);
  });
});
