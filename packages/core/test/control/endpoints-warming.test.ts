import { expect } from 'chai';
import type { ClusterService, ClusterServices } from '../../src/contract/cluster-services.ts';
import { createControlPlane, createLoggers, memorySource, type Snapshot } from '../../src/index.ts';

const SETTINGS = (timeout: string) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default' },
  spec: { gw: { endpointsWarmingTimeout: timeout } },
});
const UPSTREAM = {
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name: 'web' },
  spec: { kube: { serviceName: 'web', serviceNamespace: 'apps', servicePort: 80 } },
};
const GATEWAY = {
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'a' },
  spec: {
    virtualHost: {
      routes: [{ matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: 'web' } } } }],
    },
  },
};
const SERVICE: ClusterService = {
  ref: { namespace: 'apps', name: 'web' },
  selector: {},
  ports: [{ port: 80, endpoints: [{ address: '10.0.0.1', port: 80, weight: 1 }] }],
};

type Deliver = Parameters<ClusterServices['start']>[0];

/** Starts a control plane whose Services are listed when the test says so. */
function start(timeout: string) {
  const lines: string[] = [];
  const listed = Promise.withResolvers<void>();
  let deliver: Deliver | undefined;
  const controlPlane = createControlPlane({
    source: memorySource({ all: [SETTINGS(timeout), UPSTREAM, GATEWAY] }),
    certificateFiles: false,
    log: createLoggers({ destination: { write: (line) => void lines.push(line) } }),
    services: {
      start(onChange) {
        deliver = onChange;
        return listed.promise;
      },
      async close() {},
    },
  });
  const published: Snapshot[] = [];
  const lacking: (true | undefined)[] = [];
  controlPlane.subscribe(({ snapshots, lacksServices }) => {
    published.push(snapshots.get('gateway-proxy')!);
    lacking.push(lacksServices);
  });
  return {
    controlPlane,
    lines,
    published,
    lacking,
    started: controlPlane.start(),
    list(): void {
      deliver!([['apps/web', SERVICE]]);
      listed.resolve();
    },
  };
}

const addressesOf = (snapshot: Snapshot | undefined): string[] =>
  snapshot!.upstreams.flatMap(({ name, endpoints }) =>
    name === 'web_gw-system' ? endpoints.map(({ address }) => address) : [],
  );

describe('the first state of a control plane with Services', () => {
  it('waits for their endpoints, and has them', async () => {
    const { controlPlane, list, started, published, lacking, lines } = start('1h');
    await new Promise(setImmediate);
    expect(controlPlane.state).to.equal(undefined);
    list();
    await started;
    expect(published.map(addressesOf)).to.deep.equal([['10.0.0.1']]);
    expect(lacking).to.deep.equal([undefined]);
    expect(lines.join()).to.not.contain('starting without');
    await controlPlane.close();
  });

  it('waits for a month if endpointsWarmingTimeout: 720h', async () => {
    const delays: number[] = [];
    const { setTimeout: real } = globalThis;
    globalThis.setTimeout = ((run: () => void, ms: number) => (delays.push(ms), real(run, ms))) as typeof setTimeout;
    try {
      const { controlPlane, list, started, lines } = start('720h');
      await new Promise(setImmediate);
      expect(delays.map((ms) => Math.round((2 * ms) / 3_600_000))).to.deep.equal([720]);
      expect(Math.max(...delays)).to.be.below(2 ** 31);
      list();
      await started;
      expect(lines.join()).to.not.contain('starting without');
      await controlPlane.close();
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it('is not published if the control plane is closed while it waits', async () => {
    const { controlPlane, list, started, published } = start('1h');
    await new Promise(setImmediate);
    await controlPlane.close();
    await started;
    list();
    expect([published, controlPlane.state]).to.deep.equal([[], undefined]);
  });

  for (const timeout of ['20ms', '0s']) {
    it(`does not wait longer than endpointsWarmingTimeout: ${timeout}`, async () => {
      const { controlPlane, list, started, published, lacking, lines } = start(timeout);
      await started;
      expect(published.map(addressesOf)).to.deep.equal([[]]);
      expect(lines.join()).to.contain('starting without their endpoints (endpointsWarmingTimeout)');
      expect(lacking).to.deep.equal([true]);
      list();
      expect(addressesOf(published.at(-1))).to.deep.equal(['10.0.0.1']);
      // Proxies that still serve the endpoints of before receive nothing until all are known.
      await new Promise(setImmediate);
      expect([addressesOf(published.at(-1)), lacking.at(-1)]).to.deep.equal([['10.0.0.1'], undefined]);
      await controlPlane.close();
    });
  }
});
