import { expect } from 'chai';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import { memorySource, type MemorySource } from '../../src/source/memory.ts';

const resource = (kind: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: kind === 'VirtualService' || kind === 'Gateway' ? 'gateway.vendor.io/v1' : 'gw.vendor.io/v1',
  kind,
  metadata: { name, ...metadata },
  spec,
});
const settings = (configStatusMetricLabels: object) =>
  resource('Settings', 'default', { observabilityOptions: { configStatusMetricLabels } });
const upstream = (name: string, port: unknown = 80, metadata: object = {}) =>
  resource('Upstream', name, { static: { hosts: [{ addr: '127.0.0.1', port }] } }, metadata);
const service = (name: string, to: string) =>
  resource('VirtualService', name, {
    virtualHost: {
      domains: [`${name}.example.com`],
      routes: [
        { matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: to, namespace: 'gw-system' } } } },
      ],
    },
  });

const NAME = { labelToPath: { name: '{.metadata.name}' } };

describe('configStatusMetricLabels', () => {
  let metrics: Metrics;
  let source: MemorySource;
  let controlPlane: ControlPlane;

  async function start(units: Record<string, unknown>): Promise<void> {
    metrics = createMetrics();
    source = memorySource(units);
    controlPlane = createControlPlane({ source, metrics, log: silentLoggers });
    await controlPlane.start();
  }
  afterEach(() => controlPlane.close());

  /** The gauges of a kind in the text of Prometheus. */
  async function gauges(kind: string): Promise<string[]> {
    const prefix = `validation_gateway_vendor_io_${kind}_config_status`;
    const text = await metrics.registry.metrics();
    const lines = text.split('\n').filter((line) => line.startsWith(prefix));
    return lines.map((line) => line.slice(prefix.length)).sort();
  }

  it('makes no gauges without labels', async () => {
    await start({ a: [upstream('a'), service('s', 'a')] });
    expect(await metrics.registry.metrics()).not.to.contain('config_status');
  });

  it('makes one gauge for each resource of the kinds: 1 with a warning or error', async () => {
    await start({
      settings: settings({ 'VirtualService.v1.gateway.vendor.io': NAME, 'Upstream.v1.gw.vendor.io': NAME }),
      a: [upstream('a'), upstream('broken', 'x'), service('s', 'a'), service('t', 'missing')],
    });
    expect(await gauges('virtual_service')).to.deep.equal(['{name="s"} 0', '{name="t"} 1']);
    expect(await gauges('upstream')).to.deep.equal(['{name="a"} 0', '{name="broken"} 1']);
    expect(await gauges('gateway')).to.deep.equal([]);
    source.set('b', [upstream('missing'), upstream('a2')]);
    source.set('a', [upstream('a'), service('s', 'a'), service('t', 'missing')]);
    expect(await gauges('virtual_service')).to.deep.equal(['{name="s"} 0', '{name="t"} 0']);
    expect(await gauges('upstream')).to.deep.equal(['{name="a"} 0', '{name="a2"} 0', '{name="missing"} 0']);
  });

  it('follows the Settings', async () => {
    await start({ settings: settings({ 'Upstream.v1.gw.vendor.io': NAME }), a: [upstream('a')] });
    const team = { labelToPath: { team: '{.metadata.labels.team}', port: '{.spec.static.hosts[0].port}' } };
    source.set('settings', settings({ 'Upstream.v1.gw.vendor.io': team }));
    expect(await gauges('upstream')).to.deep.equal(['{team="",port="80"} 0']);
    source.set('a', [upstream('a', 81, { labels: { team: 'x' } })]);
    expect(await gauges('upstream')).to.deep.equal(['{team="x",port="81"} 0']);
    source.set('settings', settings({}));
    expect(await metrics.registry.metrics()).not.to.contain('config_status');
    source.set('settings', settings({ 'Upstream.v1.gw.vendor.io': {} }));
    expect(await gauges('upstream')).to.deep.equal([' 0']);
  });

  it('shares a gauge between resources with the same labels', async () => {
    const team = { labelToPath: { team: '{.metadata.labels.team}' } };
    const member = (name: string, port: unknown) => upstream(name, port, { labels: { team: 'x' } });
    await start({
      settings: settings({ 'Upstream.v1.gw.vendor.io': team }),
      a: member('a', 80),
      b: member('b', 'x'),
    });
    expect(await gauges('upstream')).to.deep.equal(['{team="x"} 1']);
    source.delete('b');
    expect(await gauges('upstream')).to.deep.equal(['{team="x"} 0']);
    source.delete('a');
    expect(await gauges('upstream')).to.deep.equal([]);
  });

  it('counts Proxies, Gateways and groups', async () => {
    await start({
      settings: settings({
        'Proxy.v1.gw.vendor.io': NAME,
        'Gateway.v1.gateway.vendor.io': NAME,
        'UpstreamGroup.v1.gw.vendor.io': NAME,
      }),
      a: [
        upstream('a'),
        service('s', 'a'),
        resource('Gateway', 'g', { bindPort: 8080, httpGateway: {} }),
        resource('UpstreamGroup', 'group', { destinations: [] }),
      ],
    });
    expect(await gauges('proxy')).to.deep.equal(['{name="gateway-proxy"} 0']);
    expect(await gauges('gateway')).to.deep.equal(['{name="g"} 0']);
    expect(await gauges('upsteam_group')).to.deep.equal(['{name="group"} 1']);
  });

  it('shows neither secret values nor long ones', async () => {
    const paths = {
      labelToPath: { name: '{.metadata.name}', data: '{.spec.data.key}', note: '{.metadata.annotations.n}' },
    };
    await start({
      settings: settings({ 'Secret.v1': paths }),
      a: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's', annotations: { n: 'x'.repeat(1000) } },
        stringData: { key: 'MARKER' },
      },
    });
    const [line] = await gauges('secret');
    expect(line).to.equal(`{name="s",data="",note="${'x'.repeat(256)}"} 0`);
  });

  it('removes many gauges at once', async () => {
    const many = Array.from({ length: 500 }, (_, i) => upstream(`u-${i}`));
    await start({ settings: settings({ 'Upstream.v1.gw.vendor.io': NAME }), a: many, b: upstream('last', 'x') });
    expect(await gauges('upstream')).to.have.length(501);
    source.delete('a');
    await controlPlane.settled();
    expect(await gauges('upstream')).to.deep.equal(['{name="last"} 1']);
  });

  for (const [labels, message] of [
    [{ Upstream: NAME }, 'Upstream has no gauge of its state'],
    [
      { 'AuthConfig.v1.enterprise.gw.vendor.io': NAME },
      'AuthConfig.v1.enterprise.gw.vendor.io has no gauge of its state',
    ],
    [
      { 'Upstream.v1.gw.vendor.io': { labelToPath: { 'a-b': '.metadata.name' } } },
      '"a-b" is not a valid name of a label',
    ],
    [
      { 'Upstream.v1.gw.vendor.io': { labelToPath: { __name__: '.metadata.name' } } },
      '"__name__" is not a valid name of a label',
    ],
    [{ 'Upstream.v1.gw.vendor.io': { labelToPath: { name: 'name' } } }, '"name" is not a path to a field'],
  ] as const) {
    it(`rejects ${JSON.stringify(labels)}`, async () => {
      await start({ settings: settings(labels) });
      const [issue, ...others] = controlPlane.state!.issues;
      expect(issue).to.include({ message, severity: 'error', kind: 'Settings' });
      expect(others).to.deep.equal([]);
    });
  }
});
