import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createControlPlane, memorySource, silentLoggers } from '@edge-gateway/core';
import type { EnvoyServices } from '@edge-gateway/core/envoy';
import { createEnvoyEncoder, type EnvoyProblem } from '../../src/envoy/encode-envoy.ts';
import { ENVOY_TYPE, ENVOY_TYPES } from '../../src/resources/envoy-types.ts';
import type { ResourceSet } from '../../src/resources/resource-set.ts';
import { secretsOf } from '../../src/resources/secret-reference.ts';
import { makeCertificates } from '../../../../test/parts/certificates.ts';

const resource = (kind: string, name: string, spec: object) => ({
  apiVersion: kind === 'Upstream' ? 'gw.vendor.io/v1' : 'gateway.vendor.io/v1',
  kind,
  metadata: { name, namespace: 'gw-system' },
  spec,
});
const gateway = resource('Gateway', 'gateway', { bindAddress: '127.0.0.1', bindPort: 8080, httpGateway: {} });
const upstream = (name: string, more: object = {}, port = 80) =>
  resource('Upstream', name, { static: { hosts: [{ addr: '10.0.0.1', port }] }, ...more });
const service = (name: string, options: object = {}, to = 'app') =>
  resource('VirtualService', name, {
    virtualHost: {
      domains: [`${name}.test`],
      routes: [
        { routeAction: { single: { upstream: { name: to } } }, options },
        { directResponseAction: { status: 200 } },
      ],
    },
  });

/** Encodes one state after the other. */
async function encoding(services: EnvoyServices = {}) {
  let problems: readonly EnvoyProblem[] = [];
  const encoder = createEnvoyEncoder(services, (_proxy, found) => (problems = found));
  const source = memorySource();
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  await controlPlane.start();
  return {
    get problems() {
      return problems;
    },
    encode(...resources: readonly object[]): ResourceSet {
      source.set('all', resources);
      const { snapshots, resources: known } = controlPlane.state!;
      const snapshot = snapshots.get('gateway-proxy')!;
      return encoder.encode({ snapshot, unserved: [], secrets: secretsOf(snapshot, known, controlPlane.secrets) });
    },
  };
}

const named = (set: ResourceSet, type: string): string[] => [...set.types.get(type)!.byName.keys()].sort();
const one = (set: ResourceSet, type: string, name: string) => set.types.get(type)!.byName.get(name)!;
const textOf = (set: ResourceSet, type: string): string =>
  [...set.types.get(type)!.byName.values()].map(({ value }) => Buffer.from(value).toString('latin1')).join('');

/** Two virtual services over TLS. Envoy does not express the configuration of the second, whose Secret is named. */
function overTls(secretOfSecond: 'tls' | 'with-roots'): object[] {
  const certificates = makeCertificates();
  const [certificate, key] = [readFileSync(certificates.cert, 'utf8'), readFileSync(certificates.key, 'utf8')];
  certificates.remove();
  const secret = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name, namespace: 'gw-system' },
    stringData: { 'tls.crt': certificate, 'tls.key': key, ...more },
  });
  const over = (name: string, secretName: string, parameters: object) => {
    const { spec, ...rest } = service(name);
    const secretRef = { name: secretName, namespace: 'gw-system' };
    return { ...rest, spec: { ...spec, sslConfig: { secretRef, sniDomains: [`${name}.test`], parameters } } };
  };
  return [
    { ...gateway, spec: { ...gateway.spec, ssl: true } },
    upstream('app'),
    secret('tls'),
    secret('with-roots', { 'ca.crt': certificate }),
    over('shop', 'tls', { minimumProtocolVersion: 'TLSv1_2' }),
    over('odd', secretOfSecond, { cipherSuites: ['TLS_AES_128_GCM_SHA256'] }),
  ];
}

describe('the resources of an Envoy', () => {
  it('are listeners, routes, clusters and endpoints', async () => {
    const set = (await encoding()).encode(gateway, upstream('app'), service('shop'));
    expect(ENVOY_TYPES.map((type) => named(set, type))).to.deep.equal([
      [],
      ['app_gw-system'],
      ['app_gw-system'],
      ['listener-127.0.0.1-8080'],
      ['listener-127.0.0.1-8080-routes'],
    ]);
    expect(textOf(set, ENVOY_TYPE.routes)).to.contain('shop.test');
  });

  it('contain the servers beside the Envoys, in plain text or over TLS', async () => {
    const server = { host: 'extauth.example', port: 8083 };
    const tls = { ca: '/certs/ca.crt', cert: '/certs/tls.crt', key: '/certs/tls.key' };
    const [plain, secured] = await Promise.all([encoding({ extauth: server }), encoding({ extauth: server, tls })]);
    const textIn = (set: ResourceSet): string =>
      Buffer.from(one(set, ENVOY_TYPE.cluster, 'edge-gateway.extauth').value).toString('latin1');
    expect(textIn(plain.encode(gateway))).to.not.contain('UpstreamTlsContext');
    const found = textIn(secured.encode(gateway));
    for (const part of ['UpstreamTlsContext', tls.ca, tls.cert, tls.key]) expect(found).to.contain(part);
    // The name that is sent, and the one that the certificate must have.
    expect(found.split(server.host)).to.have.length.above(3);
  });

  it('are the same objects while their content does not change', async () => {
    const planes = await encoding();
    const first = planes.encode(gateway, upstream('app'), service('shop'));
    expect(planes.encode(gateway, upstream('app'), service('shop'))).to.equal(first);
    const second = planes.encode(gateway, upstream('app'), service('shop'), service('blog'));
    for (const type of [ENVOY_TYPE.cluster, ENVOY_TYPE.endpoints, ENVOY_TYPE.listener])
      expect(second.types.get(type), type).to.equal(first.types.get(type));
    expect(second.types.get(ENVOY_TYPE.routes)).to.not.equal(first.types.get(ENVOY_TYPE.routes));
  });

  it('are only endpoints if a host changes, and the endpoints again if their cluster does', async () => {
    const planes = await encoding();
    const first = planes.encode(gateway, upstream('app'), service('shop'));
    const second = planes.encode(gateway, upstream('app', {}, 81), service('shop'));
    expect(second.types.get(ENVOY_TYPE.cluster)).to.equal(first.types.get(ENVOY_TYPE.cluster));
    const versionOf = (set: ResourceSet) => one(set, ENVOY_TYPE.endpoints, 'app_gw-system').version;
    expect(versionOf(second)).to.not.equal(versionOf(first));
    const third = planes.encode(gateway, upstream('app', { useHttp2: true }, 81), service('shop'));
    expect(versionOf(third)).to.not.equal(versionOf(second));
    expect(one(third, ENVOY_TYPE.endpoints, 'app_gw-system').value).to.deep.equal(
      one(second, ENVOY_TYPE.endpoints, 'app_gw-system').value,
    );
  });

  it('have hosts with names in the cluster, which resolves them', async () => {
    const byName = resource('Upstream', 'app', { static: { hosts: [{ addr: 'app.test', port: 80 }] } });
    const set = (await encoding()).encode(gateway, byName, service('shop'));
    expect(named(set, ENVOY_TYPE.endpoints)).to.deep.equal([]);
    expect(textOf(set, ENVOY_TYPE.cluster)).to.contain('app.test');
  });

  it('contain keys only in secrets', async () => {
    const certificates = makeCertificates();
    const [certificate, key] = [readFileSync(certificates.cert, 'utf8'), readFileSync(certificates.key, 'utf8')];
    certificates.remove();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tls', namespace: 'gw-system' },
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': certificate },
    };
    const secretRef = { name: 'tls', namespace: 'gw-system' };
    const app = upstream('app', { sslConfig: { secretRef, sni: 'app.test' } }, 443);
    const set = (await encoding()).encode(gateway, secret, app, service('shop'));
    expect(named(set, ENVOY_TYPE.secret)).to.deep.equal(['gw-system.tls', 'gw-system.tls.ca']);
    const [, line] = key.split('\n');
    expect(textOf(set, ENVOY_TYPE.secret)).to.contain(line);
    for (const type of ENVOY_TYPES.filter((each) => each !== ENVOY_TYPE.secret))
      expect(textOf(set, type), type).to.not.contain(line);
    expect(textOf(set, ENVOY_TYPE.cluster)).to.contain('gw-system.tls.ca');
  });

  it('reject a route with an option that Envoy does not have, and name it', async () => {
    const planes = await encoding();
    const set = planes.encode(gateway, upstream('app'), service('shop', { dlp: { actions: [{ actionType: 'SSN' }] } }));
    expect(planes.problems).to.deep.equal([
      {
        kind: 'VirtualService',
        ref: { name: 'shop', namespace: 'gw-system' },
        route: 'gw-system.shop-route-0',
        options: ['options.dlp'],
      },
    ]);
    expect(named(set, ENVOY_TYPE.cluster)).to.deep.equal(['app_gw-system']);
    planes.encode(gateway, upstream('app'), service('shop'));
    expect(planes.problems).to.deep.equal([]);
  });

  it('hand such a route over to Node proxies, and no other', async () => {
    const planes = await encoding({ nodeProxies: 'nodes.test' });
    const set = planes.encode(gateway, upstream('app'), service('shop', { dlp: { actions: [{ actionType: 'SSN' }] } }));
    expect(planes.problems).to.deep.equal([]);
    expect(named(set, ENVOY_TYPE.cluster)).to.deep.equal(['app_gw-system', 'edge-gateway.node-proxies.8080']);
    expect(textOf(set, ENVOY_TYPE.cluster)).to.contain('nodes.test');
    const without = planes.encode(gateway, upstream('app'), service('shop'));
    expect(named(without, ENVOY_TYPE.cluster)).to.deep.equal(['app_gw-system']);
  });

  it('hand over the routes to an upstream that Envoy does not express', async () => {
    const planes = await encoding();
    const tunnelled = upstream('app', { httpProxyHostname: 'server.test:443' });
    const set = planes.encode(gateway, tunnelled, upstream('other'), service('shop'), service('blog', {}, 'other'));
    expect(planes.problems.map(({ route, options }) => [route, options])).to.deep.equal([
      ['gw-system.shop-route-0', ['upstream app_gw-system: httpProxyHostname']],
    ]);
    expect(named(set, ENVOY_TYPE.cluster)).to.deep.equal(['other_gw-system']);
  });

  it('hand over all routes of a virtual host whose header changes apply to all of them', async () => {
    const planes = await encoding();
    const headerManipulation = { responseHeadersToRemove: ['x-a'] };
    const host = service('shop', { dlp: { actions: [{ actionType: 'SSN' }] } });
    Object.assign((host.spec as { virtualHost: object }).virtualHost, { options: { headerManipulation } });
    planes.encode(gateway, upstream('app'), host);
    expect(planes.problems.map(({ options }) => options)).to.deep.equal([
      ['options.dlp'],
      ['virtualHost.options.headerManipulation beside a route handed over'],
    ]);
  });

  it('open no listener that Envoy does not express', async () => {
    const options = { httpConnectionManagerSettings: { normalizePath: false } };
    const planes = await encoding();
    const strict = resource('Gateway', 'gateway', {
      bindAddress: '127.0.0.1',
      bindPort: 8080,
      httpGateway: { options },
    });
    const set = planes.encode(strict, upstream('app'), service('shop'));
    expect(named(set, ENVOY_TYPE.listener)).to.deep.equal([]);
    expect(planes.problems).to.deep.equal([
      {
        kind: 'Gateway',
        ref: { name: 'gateway', namespace: 'gw-system' },
        options: ['httpGateway.options.httpConnectionManagerSettings.normalizePath'],
      },
    ]);
  });

  it('leave out a TLS configuration that they do not express, unless Node proxies serve it', async () => {
    const resources = overTls('tls');
    const alone = await encoding();
    const served = textOf(alone.encode(...resources), ENVOY_TYPE.listener);
    expect(served).to.contain('shop.test').and.not.contain('odd.test');
    expect(alone.problems).to.deep.equal([
      {
        kind: 'Gateway',
        ref: { name: 'gateway', namespace: 'gw-system' },
        options: ['sslConfig.parameters.cipherSuites'],
      },
    ]);
    const beside = await encoding({ nodeProxies: 'node.test' });
    expect(textOf(beside.encode(...resources), ENVOY_TYPE.listener)).to.contain('node-proxies.tcp');
  });

  it('contain no listener if the configuration that they do not express requires client certificates', async () => {
    const planes = await encoding();
    expect(named(planes.encode(...overTls('with-roots')), ENVOY_TYPE.listener)).to.deep.equal([]);
    expect(planes.problems.flatMap(({ options }) => options)).to.include(
      'sslConfig with client certificates beside another sslConfig',
    );
  });

  it('are served without a listener that has no valid form', async () => {
    const controlPlane = createControlPlane({
      source: memorySource({ resources: [gateway, upstream('app'), service('shop')] }),
      log: silentLoggers,
    });
    await controlPlane.start();
    const { snapshots, resources } = controlPlane.state!;
    const snapshot = snapshots.get('gateway-proxy')!;
    const [listener] = snapshot.listeners;
    const odd = { ...listener!, name: 'odd', bindPort: 70_000 };
    let problems: readonly EnvoyProblem[] = [];
    const encoder = createEnvoyEncoder({ nodeProxies: 'node.test' }, (_proxy, found) => (problems = found));
    const secrets = secretsOf(snapshot, resources, controlPlane.secrets);
    const set = encoder.encode({ snapshot: { ...snapshot, listeners: [odd, listener!] }, unserved: [], secrets });
    expect(named(set, ENVOY_TYPE.listener)).to.deep.equal(['listener-127.0.0.1-8080']);
    expect(problems.map(({ kind, ref }) => `${kind} ${ref.name}`)).to.deep.equal(['Gateway gateway']);
    expect(problems[0]!.options[0]).to.contain('70000 is too large');
  });

  it('follow the Settings, and those of the listener', async () => {
    const settings = (userIdHeader: string) => ({
      apiVersion: 'settings.gw.vendor.io/v1',
      kind: 'Settings',
      metadata: { name: 'default', namespace: 'gw-system' },
      spec: { extauth: { userIdHeader } },
    });
    const planes = await encoding();
    const removed = (...more: object[]): string =>
      textOf(planes.encode(upstream('app'), service('shop'), ...more), ENVOY_TYPE.routes);
    expect(removed(gateway, settings('x-first'))).to.contain('x-first');
    expect(removed(gateway, settings('x-second')))
      .to.contain('x-second')
      .and.not.contain('x-first');
    const options = { extauth: { userIdHeader: 'x-own' } };
    const own = resource('Gateway', 'gateway', { ...gateway.spec, httpGateway: { options } });
    expect(removed(own, settings('x-second')))
      .to.contain('x-own')
      .and.not.contain('x-second');
  });

  it('hand over routes when Envoy can no longer express their upstream', async () => {
    const planes = await encoding();
    planes.encode(gateway, upstream('app'), service('shop'));
    planes.encode(gateway, upstream('app', { httpProxyHostname: 'server.test:443' }), service('shop'));
    expect(planes.problems.map(({ route }) => route)).to.deep.equal(['gw-system.shop-route-0']);
  });

  it('leave out an upstream while its certificate has a key that Envoy does not load', async () => {
    const secret = (curve: string) => {
      const { cert, key, remove } = makeCertificates(curve);
      const stringData = { 'tls.crt': readFileSync(cert, 'utf8'), 'tls.key': readFileSync(key, 'utf8') };
      remove();
      const metadata = { name: 'tls', namespace: 'gw-system' };
      return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, stringData };
    };
    const app = upstream('app', { sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' }, sni: 'app.test' } });
    const envoys = await encoding();
    const clusters = (curve: string) =>
      named(envoys.encode(gateway, app, secret(curve), service('shop')), ENVOY_TYPE.cluster);
    expect(clusters('P-256')).to.deep.equal(['app_gw-system']);
    expect(clusters('secp256k1')).to.deep.equal([]);
    expect(JSON.stringify(envoys.problems)).to.contain('sslConfig with a key on the curve secp256k1');
    expect(clusters('P-384')).to.deep.equal(['app_gw-system']);
  });

  it('verify servers by roots that are added to a Secret', async () => {
    const certificates = makeCertificates();
    const certificate = readFileSync(certificates.cert, 'utf8');
    certificates.remove();
    const secret = (stringData: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tls', namespace: 'gw-system' },
      type: 'kubernetes.io/tls',
      stringData,
    });
    const app = upstream('app', { sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' }, sni: 'app.test' } });
    const planes = await encoding();
    const clusters = (stringData: object): string =>
      textOf(planes.encode(gateway, secret(stringData), app, service('shop')), ENVOY_TYPE.cluster);
    expect(clusters({ other: 'x' })).to.not.contain('gw-system.tls.ca');
    expect(clusters({ other: 'x', 'ca.crt': certificate })).to.contain('gw-system.tls.ca');
  });
});
