import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { mock } from 'node:test';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { createLoggers } from '../../src/observe/logger.ts';
import { memorySource } from '../../src/source/memory.ts';
import { makeCertificates, type Certificates, type IssuedCertificate } from '../../../../test/parts/certificates.ts';

const DAY_MS = 86_400_000;
const SERVICE = 'VirtualService/gw-system/shop';

const base64 = (file: string): string => readFileSync(file).toString('base64');

function secret(name: string, { cert, key }: IssuedCertificate, ca?: string): string {
  const root = ca ? `, ca.crt: ${base64(ca)}` : '';
  return `apiVersion: v1
kind: Secret
metadata: { name: ${name}, namespace: gw-system }
type: kubernetes.io/tls
data: { tls.crt: ${base64(cert)}, tls.key: ${base64(key)}${root} }
`;
}

function service(sslConfig: string, domains = '[shop.example]'): string {
  return `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  sslConfig: ${sslConfig}
  virtualHost:
    domains: ${domains}
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`;
}

describe('certificate watch', () => {
  let files: Certificates;
  let shop: IssuedCertificate;
  let end: number;
  let lines: string[];
  let open: ControlPlane[];

  before(() => {
    files = makeCertificates();
    shop = files.issue('shop', 'DNS:shop.example,DNS:*.shop.example,IP:192.0.2.1');
    end = new X509Certificate(readFileSync(shop.cert)).validToDate.getTime();
  });
  after(() => files.remove());
  beforeEach(() => {
    lines = [];
    open = [];
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const each of open) await each.close();
  });

  async function start(documents: Readonly<Record<string, string>>, now: () => number = Date.now) {
    const source = memorySource(documents);
    const log = createLoggers({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
    const controlPlane = createControlPlane({ source, now, log });
    open.push(controlPlane);
    await controlPlane.start();
    return { source, controlPlane };
  }

  const messages = ({ state }: ControlPlane): string[] => state!.issues.map(({ message }) => message);
  const statusOf = ({ state }: ControlPlane) => state!.statuses.get(SERVICE)!.statuses['gw-system']!;
  const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

  it('accepts a valid certificate that covers the domains', async () => {
    const domains = '[shop.example, "shop.example:8443", a.shop.example, "*.shop.example", 192.0.2.1, "*"]';
    const { controlPlane } = await start({
      s: secret('tls', shop),
      v: service('{ secretRef: { name: tls } }', domains),
    });
    expect(messages(controlPlane)).to.deep.equal([]);
    expect(statusOf(controlPlane).state).to.equal('Accepted');
  });

  const dates = [
    ['has expired', 1, 'expired at'],
    ['ends within 14 days', -13 * DAY_MS, 'expires at'],
    ['is not valid yet', -91 * DAY_MS, 'is not valid before'],
  ] as const;
  for (const [what, offset, text] of dates) {
    it(`warns about a certificate that ${what}, in status, issues and log`, async () => {
      const written = { s: secret('tls', shop), v: service('{ secretRef: { name: tls } }') };
      const { controlPlane } = await start(written, () => end + offset);
      const [issue] = controlPlane.state!.issues;
      expect(issue).to.deep.include({ code: 'CERTIFICATE', severity: 'warning', kind: 'VirtualService', name: 'shop' });
      expect(issue!.path).to.deep.equal(['spec', 'sslConfig', 'secretRef']);
      expect(issue!.message).to.include(`SSL secret gw-system.tls: certificate shop.example ${text} `);
      expect(statusOf(controlPlane)).to.deep.include({ state: 'Warning' });
      expect(statusOf(controlPlane).reason).to.include(text);
      expect(lines.filter((line) => line.includes(text))).to.have.length(1);
      expect([...controlPlane.state!.snapshots.values()].flatMap(({ listeners }) => listeners)).to.have.length(1);
    });
  }

  it('warns when a certificate comes within 14 days, and again when it expires, once each', async () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: end - 20 * DAY_MS });
    const { controlPlane } = await start({ s: secret('tls', shop), v: service('{ secretRef: { name: tls } }') }, () =>
      Date.now(),
    );
    const pass = (days: number): void => {
      for (let hours = 0; hours < 24 * days; hours++) mock.timers.tick(3_600_000);
    };
    expect(messages(controlPlane)).to.deep.equal([]);
    pass(7);
    const expiring = `SSL secret gw-system.tls: certificate shop.example expires at ${utc(end)}, within 14 days`;
    expect(messages(controlPlane)).to.deep.equal([expiring]);
    const { revision } = controlPlane.state!;
    pass(12);
    expect(controlPlane.state!.revision).to.equal(revision);
    pass(2);
    expect(messages(controlPlane)).to.deep.equal([
      `SSL secret gw-system.tls: certificate shop.example expired at ${utc(end)}`,
    ]);
    expect(lines.filter((line) => line.includes('shop.example'))).to.have.length(2);
    await controlPlane.close();
    pass(1);
  });

  it('names the domains that a certificate does not cover', async () => {
    const domains = '[shop.example, www.example, a.b.shop.example, "*.example", 192.0.2.2]';
    const { controlPlane } = await start({
      s: secret('tls', shop),
      v: service('{ secretRef: { name: tls } }', domains),
    });
    expect(messages(controlPlane)).to.deep.equal([
      'SSL secret gw-system.tls: certificate shop.example does not cover www.example, a.b.shop.example, *.example, 192.0.2.2',
    ]);
  });

  it('checks the server names, and of the domains only those that they let through', async () => {
    const config = '{ secretRef: { name: tls }, sniDomains: [www.shop.example, "*.other.example"] }';
    const domains = '[a.other.example, unreachable.example]';
    const { controlPlane, source } = await start({ s: secret('tls', shop), v: service(config, domains) });
    expect(messages(controlPlane).join()).to.match(/does not cover a\.other\.example$/);
    source.set('v', service(config, '["*"]'));
    expect(messages(controlPlane).join()).to.match(/does not cover \*\.other\.example$/);
  });

  it('reports one line for a certificate of several resources', async () => {
    const text = service('{ secretRef: { name: tls } }');
    const documents = {
      s: secret('tls', shop),
      v: text,
      w: text.replace('shop }', 'two }').replace('shop.ex', 'two.shop.ex'),
    };
    const { controlPlane } = await start(documents, () => end);
    expect(controlPlane.state!.issues).to.have.length(2);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('and in 1 more place');
  });

  it('follows the content of the Secret and of the resource', async () => {
    const later = end - 10 * DAY_MS;
    const { controlPlane, source } = await start(
      { s: secret('tls', files), v: service('{ secretRef: { name: tls } }', '[localhost]') },
      () => later,
    );
    expect(messages(controlPlane)).to.have.length(1);
    source.set('s', secret('tls', shop));
    expect(messages(controlPlane).join()).to.include('does not cover localhost');
    source.set('v', service('{ secretRef: { name: none } }'));
    expect(messages(controlPlane).join()).to.not.include('cover');
    source.delete('v');
    expect(controlPlane.state!.issues).to.deep.equal([]);
  });

  it('checks the client certificate and the root of an upstream, in Secrets and files', async () => {
    const upstream = (name: string, ssl: string): string => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name} }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] }, sslConfig: ${ssl} }
`;
    const { controlPlane } = await start(
      {
        s: secret('client', shop, files.ca),
        a: upstream('a', '{ secretRef: { name: client } }'),
        b: upstream('b', `{ sslFiles: { rootCa: ${files.ca} } }`),
      },
      () => end + DAY_MS,
    );
    expect(messages(controlPlane).map((text) => text.replace(/ at .*/, ''))).to.deep.equal([
      'SSL secret gw-system.client: certificate shop.example expired',
      'SSL secret gw-system.client: root CA CN=Test CA expired',
      `${files.ca}: root CA CN=Test CA expired`,
    ]);
  });

  it('checks certificate files that can be read even if they are not watched', async () => {
    const source = memorySource({
      v: service(`{ sslFiles: { tlsCert: ${shop.cert}, tlsKey: ${shop.key} } }`, '[www.example]'),
    });
    const controlPlane = createControlPlane({ source, certificateFiles: false });
    open.push(controlPlane);
    await controlPlane.start();
    expect(messages(controlPlane)).to.deep.equal([`${shop.cert}: certificate shop.example does not cover www.example`]);
  });

  it('checks the TLS of auth servers', async () => {
    const auth = `apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: auth }
spec:
  configs:
    - passThroughAuth:
        grpc: { address: 'localhost:1', tlsConfig: { secretRef: { name: client } } }
`;
    const { controlPlane } = await start({ s: secret('client', shop), a: auth }, () => end);
    expect(controlPlane.state!.issues[0]).to.deep.include({
      code: 'CERTIFICATE',
      kind: 'AuthConfig',
      path: ['spec', 'configs', 0, 'passThroughAuth', 'grpc', 'tlsConfig', 'secretRef'],
    });
  });
});
