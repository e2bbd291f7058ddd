import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { ROOT } from '../docs/workspace.ts';
import { ClusterWorld, RIGHTS, service, since, VIRTUAL_SERVICES } from './cluster-world.ts';

describe('faults of a cluster', () => {
  const world = new ClusterWorld();

  before(async function () {
    await world.start(this, { definitions: (file) => !file.includes('graphqlapis') });
  });
  after(() => world.close());

  it('serves, and writes statuses, although a definition is missing, and reads it when it is there', async () => {
    await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'a')) === 'Accepted', 'the status');
    expect(world.planes[0]!.errors).to.contain('graphqlapis.graphql.gw.vendor.io');
    await world.underTraffic('definition missing', async () => {
      await world.api.apply(readFileSync(join(ROOT, 'deploy/crds/graphqlapis.graphql.gw.vendor.io.yaml'), 'utf8'));
      await world.applyLater(
        `apiVersion: graphql.gw.vendor.io/v1beta1\nkind: GraphQLApi\nmetadata: {name: g, namespace: shop}\nspec: {executableSchema: {schemaDefinition: 'type Query { a: String }', executor: {local: {resolutions: {}}}}}\n`,
      );
      await until(async () => (await world.stateOf('graphqlapis.graphql.gw.vendor.io', 'g')) !== '', 'its status', 60);
    });
  });

  it('serves while the API server is killed, and catches up when it is back', async () => {
    await world.underTraffic('API server killed', async () => {
      await world.api.kill();
      await until(() => world.planes[0]!.errors.includes('failed to watch resources'), 'the loss');
      expect(await world.versionOf('a')).to.equal('200 v1');
      await world.api.start();
      await world.api.apply(service('a', 'v2'));
      const start = performance.now();
      await until(async () => (await world.versionOf('a')) === '200 v2', 'the change', 60);
      const served = since(start);
      await world.api.apply(service('broken', 'v1').replace('prefix: /', 'regex: "("'));
      await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'broken')) === 'Rejected', 'the status', 60);
      await world.api.kubectl(['delete', '-n', 'shop', `${VIRTUAL_SERVICES}/broken`]);
      return `change served after ${served}, status after ${since(start)}`;
    });
  });

  it('serves while the API server hangs, and catches up afterwards', async () => {
    await world.underTraffic('API server hangs for 15 s', async () => {
      const losses = () => world.planes[0]!.errors.split('leadership lost').length;
      const before = losses();
      world.api.freeze();
      await until(() => losses() > before, 'leadership is given up');
      expect(await world.versionOf('a')).to.equal('200 v2');
      world.api.thaw();
      const start = performance.now();
      await world.api.apply(service('a', 'v3'));
      await until(async () => (await world.versionOf('a')) === '200 v3', 'the change', 60);
      return `change served ${since(start)} after it continued`;
    });
  });

  it('serves while its rights are withdrawn, and continues when it has them again', async () => {
    await world.underTraffic('rights withdrawn', async () => {
      await world.api.kubectl(['delete', 'clusterrolebinding', 'edge-gateway']);
      // Open watches end with the connections of a restarted server.
      await world.api.kill();
      await world.api.start();
      await until(() => world.planes[0]!.errors.includes('forbidden'), 'the rejection', 60);
      expect(await world.versionOf('a')).to.equal('200 v3');
      await world.api.apply(RIGHTS + service('a', 'v4'));
      const start = performance.now();
      await until(async () => (await world.versionOf('a')) === '200 v4', 'the change', 90);
      return `change served ${since(start)} after they were back`;
    });
  });

  it('serves everything else when a namespace is deleted with everything in it', async () => {
    expect(await world.versionOf('d')).to.equal('200 v1');
    await world.underTraffic('namespace deleted', async () => {
      await world.api.kubectl(['delete', 'namespace', 'doomed', '--wait=false']);
      const start = performance.now();
      await until(async () => (await world.versionOf('d')).startsWith('404'), 'its routes are gone', 60);
      return `its routes gone after ${since(start)}`;
    });
  });

  it('serves an object larger than 1 MiB', async () => {
    const routes = Array.from(
      { length: 1100 },
      (_, i) =>
        `      - matchers: [{ exact: /big-${i} }]\n        directResponseAction: { status: 200, body: '${'x'.repeat(1000)}' }\n`,
    );
    await world.underTraffic('object of more than 1 MiB', async () => {
      const manifest = service('big', 'v1', 'shop', routes.join(''));
      expect(manifest.length).to.be.greaterThan(1.1 * 2 ** 20);
      await world.api.apply(manifest);
      const start = performance.now();
      await until(async () => (await world.versionOf('big')) === '200 v1', 'it is served', 60);
      const served = since(start);
      await world.api.kubectl(['delete', '-n', 'shop', `${VIRTUAL_SERVICES}/big`]);
      return `served after ${served}`;
    });
  });

  it('serves while 2,000 upstreams appear at once, and writes all their statuses', async () => {
    await world.underTraffic('2,000 upstreams at once', async () => {
      const path = '/apis/gw.vendor.io/v1/namespaces/shop/upstreams';
      const numbers = Array.from({ length: 2_000 }, (_, i) => i).values();
      const spec = { static: { hosts: [{ addr: '127.0.0.1', port: 1 }] } };
      const start = performance.now();
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (const i of numbers) {
            const metadata = { name: `u${i}` };
            await world.client.send({
              method: 'POST',
              path,
              body: { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec },
            });
          }
        }),
      );
      const created = since(start);
      await until(
        async () => {
          const { items } = await world.client.send<{ items: { status?: unknown }[] }>({ path });
          return items.filter(({ status }) => status).length >= 2_000;
        },
        'the statuses',
        120,
      );
      const reported = since(start);
      await world.client.send({ method: 'DELETE', path, timeoutMs: 120_000 });
      return `created in ${created}, all statuses after ${reported}`;
    });
  });

  it('hands the statuses over when the leading control plane is killed', async () => {
    const [first] = world.planes;
    const second = await world.startPlane();
    await world.underTraffic('leader killed', async () => {
      expect(second.errors).not.to.contain('leadership acquired');
      first!.child.kill('SIGKILL');
      await first!.ended();
      const start = performance.now();
      await world.api.apply(service('late', 'v1'));
      await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'late')) === 'Accepted', 'the status', 60);
      return `status by the other after ${since(start)}`;
    });
  });

  it('shows no Secret in its log', async () => {
    const value = 'dmVyeS1zZWNyZXQtdmFsdWU=';
    await world.api.apply(
      `apiVersion: v1\nkind: Secret\nmetadata: {name: bad, namespace: shop}\ntype: kubernetes.io/tls\ndata: {tls.crt: ${value}, tls.key: ${value}}\n`,
    );
    await world.api.apply(
      service('tls', 'v1').replace(
        '  virtualHost:',
        '  sslConfig: {secretRef: {name: bad, namespace: shop}}\n  virtualHost:',
      ),
    );
    await until(async () => (await world.stateOf(VIRTUAL_SERVICES, 'tls')) !== '', 'its status', 60);
    for (const plane of world.planes) {
      expect(plane.errors + plane.output).not.to.match(/dmVyeS1zZWNyZXQtdmFsdWU|very-secret-value|gateway-token/);
    }
  });
});
