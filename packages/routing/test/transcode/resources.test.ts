import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createControlPlane,
  formatPath,
  memorySource,
  silentLoggers,
  type ControlPlane,
  type MemorySource,
} from '@edge-gateway/core';
import { expect } from 'chai';
import { transcoderChecks, transcoderFiles } from '../../src/transcode/index.ts';
import { descriptorSet, SHOP, shopDescriptors } from './shop.ts';
import { until } from '../../../../test/parts/until.ts';

const BINARY = Buffer.from(shopDescriptors()).toString('base64');
const OTHER = descriptorSet({ Shop: { Get: SHOP['Get']! } });

const upstreamOf = (transcoder: object): object => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name: 'shop', namespace: 'gw-system' },
  spec: {
    static: {
      hosts: [{ addr: '127.0.0.1', port: 9000 }],
      serviceSpec: { grpcJsonTranscoder: { services: ['shop.Shop'], ...transcoder } },
    },
  },
});
const gatewayOf = (transcoder: object): object => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'Gateway',
  metadata: { name: 'gateway-proxy', namespace: 'gw-system' },
  spec: {
    bindPort: 8080,
    httpGateway: { options: { grpcJsonTranscoder: { services: ['shop.Shop'], ...transcoder } } },
  },
});
const HOST = {
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'shop', namespace: 'gw-system' },
  spec: {
    virtualHost: {
      domains: ['*'],
      routes: [{ matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: 'shop' } } } }],
    },
  },
};
const mapOf = (data: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'descriptors', namespace: 'gw-system' },
  data,
});

const documents = (...resources: readonly object[]) => resources;

describe('resources with a gRPC-JSON transcoder', () => {
  let directory: string;
  let source: MemorySource;
  let controlPlane: ControlPlane;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'transcoder-'));
  });
  afterEach(async () => {
    await controlPlane.close();
    rmSync(directory, { recursive: true });
  });

  async function start(...resources: readonly object[]): Promise<void> {
    source = memorySource({ a: documents(...resources) });
    const files = [transcoderFiles(directory)];
    controlPlane = createControlPlane({ source, checks: transcoderChecks, files, log: silentLoggers });
    await controlPlane.start();
  }

  const snapshot = () => controlPlane.state!.snapshots.get('gateway-proxy')!;
  const upstream = () => snapshot().upstreams[0];
  const destination = () => {
    const action = snapshot().listeners[0]!.virtualHosts[0]!.routes[0]!.action;
    return action.type === 'forward' ? action.destinations[0]! : undefined;
  };
  const issues = (): string[] =>
    controlPlane.state!.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);

  function put(bytes: Uint8Array): void {
    writeFileSync(join(directory, 'shop.part'), bytes);
    renameSync(join(directory, 'shop.part'), join(directory, 'shop.pb'));
  }

  it('refer to it from their routes, with the version of its content', async () => {
    await start(upstreamOf({ protoDescriptorBin: BINARY }), HOST);
    const first = destination()!.transcoder!;
    expect(first.upstream).to.equal('shop_gw-system');
    expect(issues()).to.deep.equal([]);
    source.set('a', documents(upstreamOf({ protoDescriptorBin: BINARY, autoMapping: true }), HOST));
    expect(destination()!.transcoder!.version).not.to.equal(first.version);
    source.set('a', documents(upstreamOf({ protoDescriptorBin: BINARY }), HOST));
    expect(destination()!.transcoder).to.deep.equal(first);
  });

  describe('read the descriptors of a file', () => {
    it('again when it changes', async () => {
      put(shopDescriptors());
      await start(upstreamOf({ protoDescriptor: 'shop.pb' }), HOST);
      expect([upstream()!.descriptorSet, issues()]).to.deep.equal([BINARY, []]);
      const { version } = destination()!.transcoder!;
      put(OTHER);
      await until(() => upstream()!.descriptorSet !== BINARY);
      expect(destination()!.transcoder!.version).not.to.equal(version);
    });

    it('and keep the last valid one', async () => {
      put(shopDescriptors());
      await start(upstreamOf({ protoDescriptor: 'shop.pb' }), HOST);
      put(descriptorSet({ Other: {} }));
      await until(() => issues().length > 0);
      expect(issues()[0]).to.equal(
        'spec.static.serviceSpec.grpcJsonTranscoder.services[0]: the descriptors have no service shop.Shop; the previous content stays in use',
      );
      expect(upstream()!.descriptorSet).to.equal(BINARY);
    });

    it('of a listener', async () => {
      put(shopDescriptors());
      await start(gatewayOf({ protoDescriptor: 'shop.pb' }), upstreamOf({ protoDescriptorBin: BINARY }), HOST);
      expect(snapshot().listeners[0]!.descriptorSet).to.equal(BINARY);
      put(OTHER);
      await until(() => snapshot().listeners[0]!.descriptorSet !== BINARY);
    });

    it('which must exist', async () => {
      await start(upstreamOf({ protoDescriptor: 'shop.pb' }), HOST);
      expect(issues()).to.deep.equal([
        "spec.static.serviceSpec.grpcJsonTranscoder.protoDescriptor: protoDescriptor: 'shop.pb' does not exist in the configuration directory",
      ]);
      expect(upstream()!.descriptorSet).to.equal(undefined);
      put(shopDescriptors());
      await until(() => upstream()!.descriptorSet === BINARY);
    });
  });

  describe('read the descriptors of a ConfigMap', () => {
    const ref = (key?: string): object => ({
      protoDescriptorConfigMap: { configMapRef: { name: 'descriptors' }, ...(key && { key }) },
    });

    it('again when it changes', async () => {
      await start(upstreamOf(ref()), HOST, mapOf({ 'shop.pb': `${BINARY}\n` }));
      expect([upstream()!.descriptorSet, issues()]).to.deep.equal([BINARY, []]);
      const { version } = destination()!.transcoder!;
      const other = Buffer.from(OTHER).toString('base64');
      source.set('a', documents(upstreamOf(ref()), HOST, mapOf({ 'shop.pb': other })));
      expect(upstream()!.descriptorSet).to.equal(other);
      expect(destination()!.transcoder!.version).not.to.equal(version);
    });

    it('of a listener, by key', async () => {
      const map = mapOf({ a: 'AAAA', b: BINARY });
      await start(gatewayOf(ref('b')), upstreamOf({ protoDescriptorBin: BINARY }), HOST, map);
      expect([snapshot().listeners[0]!.descriptorSet, issues()]).to.deep.equal([BINARY, []]);
    });

    const invalid: Readonly<Record<string, readonly [transcoder: object, map: object, problem: string]>> = {
      'that is missing': [ref(), HOST, 'configMapRef: ConfigMap gw-system.descriptors not found'],
      'without values': [ref(), mapOf({}), 'configMapRef: ConfigMap gw-system.descriptors has no values'],
      'with several values': [
        ref(),
        mapOf({ a: 'AAAA', b: 'AAAA' }),
        'key: ConfigMap gw-system.descriptors has several values (a, b): name one as key',
      ],
      'without the value': [
        ref('shop'),
        mapOf({ shop1: 'AAAA' }),
        "key: ConfigMap gw-system.descriptors has no value 'shop'",
      ],
    };
    for (const [name, [transcoder, map, problem]] of Object.entries(invalid)) {
      it(`but not one ${name}`, async () => {
        await start(upstreamOf(transcoder), HOST, map);
        const found = issues().find((issue) => issue.includes('ConfigMap'));
        expect(found).to.contain(`spec.static.serviceSpec.grpcJsonTranscoder.protoDescriptorConfigMap.${problem}`);
        expect(upstream()!.descriptorSet).to.equal(undefined);
      });
    }
  });

  const rejected: Readonly<Record<string, readonly [transcoder: object, problem: string]>> = {
    'an unknown service': [
      { protoDescriptorBin: BINARY, services: ['shop.Shop', 'shop.Shops'] },
      'services[1]: the descriptors have no service shop.Shops',
    ],
    'no service': [{ protoDescriptorBin: BINARY, services: [] }, 'services: the transcoder names no service'],
    'descriptors that are not base64': [{ protoDescriptorBin: 'a b!' }, 'protoDescriptorBin: the value is not base64'],
    'descriptors that cannot be read': [
      { protoDescriptorBin: 'aGVsbG8=' },
      'protoDescriptorBin: the descriptor set cannot be read',
    ],
    'an invalid rule': [
      {
        services: ['shop.Bad'],
        protoDescriptorBin: Buffer.from(
          descriptorSet({ Bad: { Do: { takes: '.shop.Book', returns: '.shop.Book', rule: { at: 'GET /v1/{x}' } } } }),
        ).toString('base64'),
      },
      "protoDescriptorBin: shop.Bad.Do: shop.Book has no field 'x'",
    ],
    'a file outside the directory': [
      { protoDescriptor: '../shop.pb' },
      'protoDescriptor: a file outside the configuration directory is not read',
    ],
    'a ConfigMap without a name': [
      { protoDescriptorConfigMap: {} },
      'protoDescriptorConfigMap.configMapRef: the reference names no ConfigMap',
    ],
    'no descriptors': [{}, ': missing descriptors'],
  };
  for (const [name, [transcoder, problem]] of Object.entries(rejected)) {
    it(`are rejected with ${name}`, async () => {
      await start(upstreamOf(transcoder), gatewayOf(transcoder), HOST);
      const found = issues().filter((issue) => issue.includes('grpcJsonTranscoder'));
      for (const place of ['spec.static.serviceSpec.grpcJsonTranscoder', 'spec.httpGateway.options.grpcJsonTranscoder'])
        expect(found.find((issue) => issue.startsWith(place))).to.contain(problem);
    });
  }
});
