import { createContext, createControlPlane, createMetrics, memorySource, type ControlPlane } from '@edge-gateway/core';
import { expect } from 'chai';
import { createControlAdmin, createDeveloperAdmin, createProxyAdmin } from '../src/index.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';
import { controlOptions } from './control/control-sample.ts';
import { listen, sampleOptions, type TestPort } from './sample.ts';

const indented = (pem: string): string => pem.trim().replaceAll('\n', '\n    ');
const MARKED = Buffer.from('MARKER-base64').toString('base64');

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: {name: shop, namespace: gw-system}
spec:
  virtualHost:
    domains: [shop.example]
    routes:
    - matchers: [{prefix: /pets}]
      routeAction: {single: {upstream: {name: pets, namespace: gw-system}}}
      options:
        headerManipulation:
          requestHeadersToAdd:
          - headerSecretRef: {name: partner, namespace: gw-system}
    - matchers: [{prefix: /gone}]
      routeAction: {single: {upstream: {name: gone, namespace: gw-system}}}
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: {name: shop-tls, namespace: gw-system}
spec:
  sslConfig: {secretRef: {name: tls, namespace: gw-system}}
  virtualHost:
    domains: [shop.example]
    routes:
    - matchers: [{prefix: /}]
      directResponseAction: {status: 200, body: hello}
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: {name: pets, namespace: gw-system}
spec: {static: {hosts: [{addr: 127.0.0.1, port: 8081}]}}
---
apiVersion: v1
kind: Secret
type: gw.vendor.io/header
metadata: {name: partner, namespace: gw-system, annotations: {note: MARKER-annotation}}
stringData: {x-partner-key: MARKER-header}
---
apiVersion: v1
kind: Secret
type: extauth.vendor.io/oauth
metadata: {name: oauth, namespace: gw-system}
stringData: {client-secret: MARKER-oauth}
---
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: {name: tls, namespace: gw-system}
stringData:
  tls.crt: |
    ${indented(CERTIFICATE)}
  tls.key: |
    ${indented(PRIVATE_KEY)}
`;

/** Secrets written wrongly: what is said of them must not repeat them. */
const BROKEN: Readonly<Record<string, string>> = {
  'a wrong type': 'data: MARKER-type',
  'no base64': 'data: {key: "MARKER not base64 %%%"}',
  'a number': 'data: {key: [MARKER-list]}',
  'an unknown key': 'password: MARKER-key\ndata: {}',
  'a value in the wrong place': `spec: {key: MARKER-spec, other: ${MARKED}}`,
  'a wrong secret type': 'type: [MARKER-type]',
};

const paths = {
  proxy: [
    '/config_dump?include_eds',
    '/certs',
    '/clusters',
    '/stats',
    '/stats/prometheus',
    '/server_info',
    '/init_dump',
  ],
  control: ['/snapshots/input', '/snapshots/edge', '/snapshots/proxies', '/snapshots/xds', '/metrics', '/zpages'],
  developer: ['/xds', '/xds/gw-system~gateway-proxy', '/api'],
};

describe('the ports over a control plane', () => {
  const source = memorySource({ all: RESOURCES });
  const metrics = createMetrics();
  let controlPlane: ControlPlane;
  let ports: Record<keyof typeof paths, TestPort>;
  before(async () => {
    controlPlane = createControlPlane({ source, metrics });
    await controlPlane.start();
    const context = createContext({ metrics, secrets: { get: (ref) => controlPlane.state?.secrets.get(ref) } });
    const state = () => controlPlane.state;
    const snapshot = () => state()?.snapshots.get('gateway-proxy');
    ports = {
      proxy: await listen(createProxyAdmin(sampleOptions({ context, snapshot }))),
      control: await listen(createControlAdmin(controlOptions({ state, metrics }))),
      developer: await listen(createDeveloperAdmin({ state })),
    };
  });
  after(async () => {
    await Promise.all(Object.values(ports).map((port) => port.close()));
    await controlPlane.close();
  });
  const request = async (port: keyof typeof paths, path: string): Promise<any> =>
    JSON.parse((await ports[port].request(path)).text);

  it('shows the translated configuration', async () => {
    const { configs } = await request('proxy', '/config_dump');
    const [, clusters, listeners, , routes, secrets] = configs;
    expect(clusters.dynamic_active_clusters.map((each: any) => each.cluster.name)).to.deep.equal(['pets_gw-system']);
    expect(listeners.dynamic_listeners.map((each: any) => each.name)).to.deep.equal([
      'listener-::-8080',
      'listener-::-8443',
    ]);
    const [host] = routes.dynamic_route_configs[0].route_config.virtual_hosts;
    expect(host.name).to.equal('gw-system.shop');
    expect(host.routes[0].request_headers_to_add[0].header).to.deep.equal({
      key: 'x-partner-key',
      value: '[redacted]',
    });
    expect(secrets.dynamic_active_secrets[0].name).to.equal('gw-system.tls');
  });

  it('shows the certificate in use', async () => {
    const { certificates } = await request('proxy', '/certs');
    expect(certificates[0].cert_chain[0].serial_number).to.equal('7b2f');
  });

  it('shows every resource with its status', async () => {
    const { data } = await request('control', '/snapshots/input');
    const shop = data.find(({ kind, metadata }: any) => kind === 'VirtualService' && metadata.name === 'shop');
    const report = shop.status.statuses['gw-system'];
    expect(report.state).to.equal('Warning');
    expect(report.reason).to.contain('gone');
    expect((await request('control', '/snapshots/proxies')).data[0].metadata.name).to.equal('gateway-proxy');
  });

  it('shows an invalid document as an error until it is removed', async () => {
    source.set('notes', 'just: a note\n');
    const { status, error, data } = await request('control', '/snapshots/input');
    source.delete('notes');
    expect(status).to.equal('error');
    expect(error).to.contain('memory:notes:1:1');
    expect(data).to.have.length.greaterThan(4);
    expect((await request('control', '/snapshots/input')).status).to.equal('ok');
  });

  async function expectNothingMarked(): Promise<void> {
    const keyLine = PRIVATE_KEY.split('\n')[1]!;
    for (const [port, list] of Object.entries(paths)) {
      for (const path of list) {
        const { text } = await ports[port as keyof typeof paths].request(path);
        for (const value of ['MARKER', MARKED, keyLine, Buffer.from(keyLine).toString('base64').slice(4, 40)]) {
          expect(text.includes(value), `${path} shows ${value}`).to.equal(false);
        }
      }
    }
  }

  it('shows no value of a secret', expectNothingMarked);

  for (const [what, body] of Object.entries(BROKEN)) {
    it(`does not repeat a secret that is rejected for ${what}`, async () => {
      source.set('broken', `apiVersion: v1\nkind: Secret\nmetadata: {name: broken, namespace: gw-system}\n${body}\n`);
      await expectNothingMarked();
      source.delete('broken');
    });
  }
});
