import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterObject } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { parse } from 'yaml';
import { until, type GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import { ROOT } from '../docs/workspace.ts';
import { createFakeClock } from '../parts/fake-clock.ts';
import { startApiFront, type ApiFront, type FrontFault } from './api-front.ts';
import { ClusterWorld, service, since, usageOf, VIRTUAL_SERVICES } from './cluster-world.ts';

/** Longer than the lease of a leader (15 s), by the time that another process takes to notice. */
const BEYOND_LEASE_MS = 20_000;
const STORM_MS = 10_000;
const SERVICES = Number(process.env.FAULT_SERVICES ?? 5_000);
const UPSTREAMS = '/apis/gw.vendor.io/v1/namespaces/gw-system/upstreams';

/** Between looks at all statuses. */
const STATUS_POLL_MS = 2_000;

interface UpstreamList {
  readonly metadata: { readonly remainingItemCount?: number };
  readonly items: readonly ClusterObject[];
}

/** Calls back with each number below a limit, several at a time. */
async function forEach(count: number, send: (i: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i).values();
  const work = async (): Promise<void> => {
    for (const i of numbers) await send(i);
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

describe('contention in a cluster', function () {
  this.timeout(600_000);
  const world = new ClusterWorld();
  let front: ApiFront;

  before(async function () {
    await world.start(this, {
      async kubeconfig(api) {
        front = await startApiFront(api);
        return front.kubeconfig;
      },
    });
    await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'a')) === 'Accepted', 'the status', 60);
  });
  after(async () => {
    await world.close();
    await front?.close();
  });

  const path = (name: string): string => `/apis/gateway.vendor.io/v1/namespaces/shop/virtualservices/${name}`;
  const leads = ({ errors }: GatewayProcess): boolean =>
    errors.lastIndexOf('leadership acquired') > errors.lastIndexOf('leadership lost');

  /** Responds with 410 to every watch, or to every list. */
  const gone =
    (isGone: (query: URLSearchParams) => boolean): FrontFault =>
    (req, res) => {
      const { pathname, searchParams } = new URL(req.url!, 'http://front');
      if (req.method !== 'GET' || pathname.includes('/leases/') || !isGone(searchParams)) return false;
      res.writeHead(410, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }));
      return true;
    };

  it('serves, and lists with a back-off, while the API server has forgotten every version', async () => {
    await world.underTraffic('410 for all watches for 10 s', async () => {
      const before = front.faults;
      front.set(gone((query) => query.has('watch')));
      await wait(STORM_MS);
      const storm = front.faults - before;
      await world.api.apply(service('a', 'v2'));
      front.set(undefined);
      const start = performance.now();
      await until(async () => (await world.versionOf('a')) === '200 v2', 'the change', 90);
      // Some fifty watches, each at most once in 400 ms at first, and every 5 s later.
      expect(storm).to.be.lessThan(1_500);
      return `${storm} watches rejected, change served ${since(start)} after the storm`;
    });
  });

  it('serves while lists are gone as well', async () => {
    await world.underTraffic('410 for all reads for 10 s', async () => {
      const before = front.faults;
      front.set(gone(() => true));
      await wait(STORM_MS);
      const storm = front.faults - before;
      await world.api.apply(service('a', 'v3'));
      front.set(undefined);
      const start = performance.now();
      await until(async () => (await world.versionOf('a')) === '200 v3', 'the change', 90);
      expect(storm).to.be.lessThan(1_500);
      return `${storm} reads rejected, change served ${since(start)} after the storm`;
    });
  });

  it('writes statuses ever more rarely while somebody else overwrites them, and is right afterwards', async () => {
    await world.underTraffic('conflicting writer of a status', async () => {
      const statuses = { 'gw-system': { state: 'Rejected', reason: 'of another writer', reportedBy: 'other' } };
      let overwritten = 0;
      const end = performance.now() + 15_000;
      while (performance.now() < end) {
        await world.client.send({
          method: 'PATCH',
          path: `${path('a')}/status`,
          query: { fieldManager: 'other' },
          contentType: 'application/merge-patch+json',
          body: { status: { statuses } },
        });
        overwritten += 1;
        await wait(50);
      }
      const start = performance.now();
      await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'a')) === 'Accepted', 'the status', 90);
      return `overwritten ${overwritten} times, right ${since(start)} afterwards`;
    });
  });

  it('keeps what others write to discovered upstreams', async () => {
    const create = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'shop' },
      spec: { ports: [{ port: 80 }] },
    });
    await world.underTraffic('conflicting writers of an upstream', async () => {
      await world.client.send({ method: 'POST', path: '/api/v1/namespaces/shop/services', body: create('contended') });
      const upstream = `${UPSTREAMS}/shop-contended-80`;
      const read = () => world.client.send<any>({ path: upstream }).catch(() => undefined);
      await until(async () => (await read()) !== undefined, 'the upstream', 60);
      const change = (body: object) =>
        world.client.send({ method: 'PATCH', path: upstream, contentType: 'application/merge-patch+json', body });
      for (let i = 1; i <= 20; i++)
        await Promise.all([
          change({ spec: { connectionConfig: { maxRequestsPerConnection: i } } }),
          change({ spec: { kube: { servicePort: 1_000 + i } } }),
        ]);
      const isRight = ({ spec }: any): boolean =>
        spec.kube.servicePort === 80 && spec.connectionConfig.maxRequestsPerConnection === 20;
      const start = performance.now();
      await until(async () => isRight(await read()), 'both writes', 60);
      await world.api.kubectl(['delete', 'service', 'contended', '-n', 'shop']);
      await until(async () => (await read()) === undefined, 'the upstream is gone', 60);
      return `both right after ${since(start)}`;
    });
  });

  it(`serves while ${SERVICES} Services appear at once, and discovers all of them`, async function () {
    this.timeout(2_400_000);
    await world.underTraffic(`${SERVICES} Services at once`, async () => {
      const services = '/api/v1/namespaces/shop/services';
      // All of them are megabytes, which the API server should not send over and over.
      const countOf = async (): Promise<number> => {
        const { items, metadata } = await world.client.send<UpstreamList>({ path: UPSTREAMS, query: { limit: 1 } });
        return items.length + (metadata.remainingItemCount ?? 0);
      };
      const haveStatuses = async (): Promise<boolean> => {
        await wait(STATUS_POLL_MS);
        const { items } = await world.client.send<UpstreamList>({ path: UPSTREAMS });
        return items.every((upstream) => upstream['status']);
      };
      const others = await countOf();
      const used = usageOf(world.planes[0]!);
      const start = performance.now();
      await forEach(SERVICES, (i) => {
        const spec = { clusterIP: 'None', ports: [{ port: 80 }], selector: { app: `s${i}` } };
        const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: `s${i}` }, spec };
        return world.client.send({ method: 'POST', path: services, body });
      });
      const created = since(start);
      await until(async () => (await countOf()) === others + SERVICES, 'the upstreams', 600);
      const discovered = since(start);
      await until(haveStatuses, 'the statuses', 600);
      const reported = since(start);
      const { cpuSeconds, peakMiB } = usageOf(world.planes[0]!);
      const removing = performance.now();
      await forEach(SERVICES, (i) => world.client.send({ method: 'DELETE', path: `${services}/s${i}` }));
      const deleted = since(removing);
      await until(async () => (await countOf()) === others, 'the upstreams are gone', 600);
      return [
        `created in ${created}`,
        `all discovered after ${discovered}`,
        `all statuses after ${reported}`,
        `deleted in ${deleted}, their upstreams after ${since(removing)}`,
        `${(cpuSeconds - used.cpuSeconds).toFixed(1)} s of CPU until all statuses, at most ${peakMiB} MiB (before: ${used.peakMiB} MiB)`,
      ].join('; ');
    });
  });

  it('has one leader, although the clock of another control plane stands still in the future', async () => {
    const [first] = world.planes;
    const clock = await createFakeClock(world.api.directory, Date.now() + 3 * 24 * 3_600_000);
    const second = await world.startPlane({ limits: { env: clock.env } });
    await world.underTraffic('clock wrong by three days', async () => {
      await wait(BEYOND_LEASE_MS);
      expect([leads(first!), leads(second)]).to.deep.equal([true, false]);
      expect(first!.errors).to.not.contain('leadership lost');
      return 'the leader stayed';
    });
  });

  it('hands leadership over while the leader is stopped, and has one leader when it continues', async () => {
    const [first, second] = world.planes;
    await world.underTraffic('leader stopped for longer than its lease', async () => {
      first!.child.kill('SIGSTOP');
      const start = performance.now();
      await until(() => leads(second!), 'the other leads', 60);
      const taken = since(start);
      await world.api.apply(service('late', 'v1'));
      await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'late')) === 'Accepted', 'the status', 60);
      const before = await world.client.send<any>({ path: path('late') });
      first!.child.kill('SIGCONT');
      await until(() => !leads(first!), 'the former leader knows', 60);
      await wait(3_000);
      expect([leads(first!), leads(second!)]).to.deep.equal([false, true]);
      const after = await world.client.send<any>({ path: path('late') });
      expect(after.metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
      return `the other led after ${taken}, nothing written twice`;
    });
  });
});

describe('definitions that are older than the control plane', () => {
  const world = new ClusterWorld();
  const file = 'virtualservices.gateway.vendor.io.yaml';

  /** Returns the definition without the fields of a status. */
  function older(): object {
    const definition = parse(readFileSync(join(ROOT, 'deploy', 'crds', file), 'utf8'));
    const { properties } = definition.spec.versions[0].schema.openAPIV3Schema;
    properties.status = { type: 'object', properties: {} };
    return definition;
  }

  before(async function () {
    await world.start(this);
    await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'a')) === 'Accepted', 'the status', 60);
  });
  after(() => world.close());

  it('serves, and does not write a status over and over that the API server prunes', async () => {
    await world.underTraffic('older definition', async () => {
      await world.api.apply(JSON.stringify(older()));
      await world.api.apply(service('a', 'v2') + service('new', 'v1'));
      const start = performance.now();
      await until(async () => (await world.versionOf('new')) === '200 v1', 'the new one is served', 60);
      const served = since(start);
      await wait(5_000);
      const read = () => world.client.send<any>({ path: '/apis/gateway.vendor.io/v1/namespaces/shop/virtualservices' });
      const before = await read();
      await wait(10_000);
      const after = await read();
      const versions = ({ items }: any) => items.map(({ metadata }: any) => metadata.resourceVersion);
      expect(versions(after)).to.deep.equal(versions(before));
      await world.api.apply(readFileSync(join(ROOT, 'deploy', 'crds', file), 'utf8'));
      await world.api.apply(service('new', 'v2'));
      await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'new')) === 'Accepted', 'the status', 90);
      return `served after ${served}, status written once the definition is current`;
    });
  });
});
