import { expect } from 'chai';
import { discoveredPorts, portUpstream } from '../../src/discovery/service-upstream.ts';
import { service } from './objects.ts';

const TLS = 'gw.vendor.io/sslService';
const CONFIG = 'gw.vendor.io/upstream_config';

const specOf = (annotations: Record<string, string> = {}, spec?: object) => {
  const made = service('default/petstore', { annotations, ...(spec && { spec }) });
  return portUpstream(made, discoveredPorts(made)[0]!);
};
const port = (fields: object) => ({ ports: [{ port: 80, protocol: 'TCP', ...fields }] });
const fault = (annotations: Record<string, string>) => expect(specOf(annotations)).to.have.property('fault');

describe('the upstream of a port of a Service', () => {
  it('names Service, port, selector and labels', () => {
    const made = service('default/petstore', { labels: { service: 'petstore', 'a.b/c': '' } });
    expect(portUpstream(made, made.ports[0]!)).to.deep.equal({
      spec: {
        discoveryMetadata: { labels: { service: 'petstore', 'a.b/c': '' } },
        kube: { serviceName: 'petstore', serviceNamespace: 'default', servicePort: 80, selector: { app: 'petstore' } },
      },
    });
  });

  it('has no labels and no selector if the Service has none', () => {
    expect(specOf({}, { selector: undefined })).to.deep.equal({
      spec: { kube: { serviceName: 'petstore', serviceNamespace: 'default', servicePort: 80 } },
    });
  });

  it('uses HTTP/2 by the name or the protocol of the port, unless the annotation says otherwise', () => {
    for (const name of ['grpc', 'GRPC-web', 'grpcfoo', 'h2', 'h2c-api', 'http2', 'Http2-x'])
      expect(specOf({}, port({ name })), name).to.have.nested.property('spec.useHttp2', true);
    for (const name of ['http', 'https', 'web-grpc', 'h', ''])
      expect(specOf({}, port({ name })), name).not.to.have.nested.property('spec.useHttp2');
    for (const appProtocol of ['kubernetes.io/h2c', 'grpc'])
      expect(specOf({}, port({ appProtocol }))).to.have.nested.property('spec.useHttp2', true);
    for (const appProtocol of ['https', 'kubernetes.io/ws', 'example.com/grpc'])
      expect(specOf({}, port({ appProtocol }))).not.to.have.nested.property('spec.useHttp2');
    const h2 = 'gw.vendor.io/h2_service';
    expect(specOf({ [h2]: 'true' })).to.have.nested.property('spec.useHttp2', true);
    expect(specOf({ [h2]: 'false' }, port({ name: 'grpc' }))).to.have.nested.property('spec.useHttp2', false);
    fault({ [h2]: 'yes' }).that.equals("annotation gw.vendor.io/h2_service: must be 'true' or 'false', is 'yes'");
  });

  it('has the TLS of its annotations, for all ports or one', () => {
    expect(specOf({ [`${TLS}.secret`]: 'certs' })).to.have.deep.nested.property('spec.sslConfig', {
      secretRef: { name: 'certs', namespace: 'default' },
    });
    expect(specOf({ [`${TLS}.secret`]: '80:certs' })).to.have.nested.property('spec.sslConfig.secretRef.name', 'certs');
    expect(specOf({ [`${TLS}.secret`]: '443:certs' })).not.to.have.nested.property('spec.sslConfig');
    expect(
      specOf({ [`${TLS}.tlsCert`]: '/c:1.pem', [`${TLS}.tlsKey`]: '80:/k.pem', [`${TLS}.rootCa`]: '/ca.pem' }),
    ).to.have.deep.nested.property('spec.sslConfig', {
      sslFiles: { tlsCert: '/c:1.pem', tlsKey: '/k.pem', rootCa: '/ca.pem' },
    });
    expect(specOf({ [`${TLS}.rootCa`]: '/ca.pem' })).to.have.deep.nested.property('spec.sslConfig', {
      sslFiles: { rootCa: '/ca.pem' },
    });
  });

  it('has a fault instead of no TLS if the annotations are incomplete', () => {
    fault({ [`${TLS}.secret`]: '' }).that.contains('has no value');
    fault({ [`${TLS}.secret`]: '80:' }).that.contains('has no value');
    fault({ [`${TLS}.tlsCert`]: '/c.pem' }).that.contains('needs gw.vendor.io/sslService.tlsKey');
    fault({ [`${TLS}.tlsKey`]: '/k.pem' }).that.contains('needs gw.vendor.io/sslService.tlsCert');
    fault({ [`${TLS}.secret`]: 'certs', [`${TLS}.rootCa`]: '/ca.pem' }).that.contains('must not be combined');
  });

  it('has the fields of the annotation upstream_config, which replace those of discovery', () => {
    const config = {
      useHttp2: false,
      connectionConfig: { connectTimeout: '2s' },
      kube: { subsetSpec: { selectors: [{ keys: ['version'] }] } },
    };
    const made = specOf({ [CONFIG]: JSON.stringify(config) }, port({ name: 'grpc' }));
    expect(made).to.have.nested.property('spec.useHttp2', false);
    expect(made).to.have.deep.nested.property('spec.connectionConfig', { connectTimeout: '2s' });
    expect(made).to.have.nested.property('spec.kube.serviceName', 'petstore');
    expect(made).to.have.deep.nested.property('spec.kube.subsetSpec', config.kube.subsetSpec);
  });

  it('merges objects only with deep_merge', () => {
    const config = JSON.stringify({ sslConfig: { sni: 'petstore.example.com' } });
    const annotations = { [`${TLS}.secret`]: 'certs', [CONFIG]: config };
    expect(specOf(annotations)).to.have.deep.nested.property('spec.sslConfig', { sni: 'petstore.example.com' });
    expect(specOf({ ...annotations, [`${CONFIG}.deep_merge`]: 'true' })).to.have.deep.nested.property(
      'spec.sslConfig',
      {
        secretRef: { name: 'certs', namespace: 'default' },
        sni: 'petstore.example.com',
      },
    );
  });

  it('has a fault if upstream_config is not a valid spec', () => {
    const config = (value: unknown) => fault({ [CONFIG]: typeof value === 'string' ? value : JSON.stringify(value) });
    config('{').that.contains('is not valid JSON');
    config('[]').that.contains('must be a JSON object');
    config('null').that.contains('must be a JSON object');
    config({ useHttp3: true }).that.contains('useHttp3');
    config({ connectionConfig: { connectTimeout: 'soon' } }).that.contains('connectionConfig.connectTimeout');
    config({ static: { hosts: [{ addr: '127.0.0.1', port: 19000 }] } }).that.contains('must not contain static');
    config({ kube: { servicePort: 1 } }).that.contains('must not contain kube.servicePort');
    config({ kube: 'x' }).that.contains('kube must be a JSON object');
    config({ discoveryMetadata: {} }).that.contains('must not contain discoveryMetadata');
    config('{"__proto__": {"useHttp2": true}}').that.contains('__proto__');
    config(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`).that.contains('nested deeper');
  });

  it('refers only to Secrets of the namespace of the Service', () => {
    const secretRef = (namespace?: string) => ({
      [CONFIG]: JSON.stringify({ sslConfig: { secretRef: { name: 'certs', namespace } } }),
    });
    expect(specOf(secretRef('default'))).to.have.nested.property('spec.sslConfig.secretRef.namespace', 'default');
    fault(secretRef('kube-system')).that.contains("'default', and not 'kube-system'");
    fault(secretRef()).that.contains("must name the namespace of the Service, 'default'");
  });

  it('has default annotations that those of the Service override', () => {
    const made = service('default/petstore', { annotations: { 'gw.vendor.io/h2_service': 'false' } });
    const defaults = { 'gw.vendor.io/h2_service': 'true', [`${TLS}.secret`]: 'certs' };
    const upstream = portUpstream(made, made.ports[0]!, defaults);
    expect(upstream).to.have.nested.property('spec.useHttp2', false);
    expect(upstream).to.have.nested.property('spec.sslConfig.secretRef.name', 'certs');
  });
});

describe('the ports of a Service that get an upstream', () => {
  it('are those of TCP, each number once', () => {
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      { name: 'metrics', port: 9153 },
      { name: 'sctp', port: 9000, protocol: 'SCTP' },
      { name: 'again', port: 9153, protocol: 'TCP' },
      { name: 'zero', port: 0, protocol: 'TCP' },
      { name: 'text', port: '80', protocol: 'TCP' },
    ];
    const found = discoveredPorts(service('kube-system/kube-dns', { spec: { ports } }));
    expect(found.map(({ name, port: number }) => `${name} ${number}`)).to.deep.equal(['dns-tcp 53', 'metrics 9153']);
  });

  it('are none without ports, as of many headless Services', () => {
    expect(discoveredPorts(service('a/b', { spec: { clusterIP: 'None', ports: undefined } }))).to.deep.equal([]);
    expect(discoveredPorts(service('a/b', { spec: { ports: 'none' } }))).to.deep.equal([]);
  });
});
