import { expect } from 'chai';
import { createControlPlane, memorySource, silentLoggers, type Concern, type Snapshot } from '@edge-gateway/core';
import { createRouter, type Router } from '../src/router.ts';
import { ask, listenOn } from './served.ts';
import {
  directOf,
  endpointOf,
  hostOf,
  LISTENER,
  routeOf,
  snapshotOf,
  start,
  stopAll,
  upstreamOf,
} from './snapshots.ts';

describe('a snapshot that is applied in steps', () => {
  let router: Router;
  let port: number;
  /** Compiled handlers that are not closed. */
  let open: Set<string>;
  afterEach(async () => {
    await router.close();
    await stopAll();
  });

  const concern: Concern = {
    name: 'rbac',
    option: 'rbac',
    stage: 'rbac',
    compile(block) {
      const { id } = block as { readonly id: string };
      if (id === 'invalid') throw new Error('invalid');
      open.add(id);
      return Object.assign((_req: unknown, _res: unknown, next: () => void) => next(), {
        close: () => void open.delete(id),
      });
    },
  };

  beforeEach(async () => {
    open = new Set();
    router = createRouter({ concerns: [concern], fallthrough: 'notFound' });
    port = await listenOn(router);
  });

  const hosts = ['a.example', 'b.example', 'c.example'];
  const version = (body: string): Snapshot =>
    snapshotOf(
      hosts.map((name) =>
        hostOf([directOf(body, { options: { rbac: { id: `${body} ${name}` } as never } })], { name, domains: [name] }),
      ),
    );
  const served = (): Promise<string[]> =>
    Promise.all(hosts.map(async (host) => (await ask(port, '/', { headers: { host } })).body));
  const all = (body: string): string[] => hosts.map(() => body);
  const ids = (...bodies: string[]): string[] => bodies.flatMap((body) => hosts.map((name) => `${body} ${name}`));

  it('is served from the last step on, as a whole', async () => {
    router.apply(version('one'));
    const steps = router.applySteps(version('two'));
    let count = 0;
    for (; !steps.next().done; count++) expect(await served()).to.deep.equal(all('one'));
    expect(count).to.be.at.least(hosts.length);
    expect(await served()).to.deep.equal(all('two'));
    expect([...open].sort()).to.deep.equal(ids('two'));
  });

  it('returns the parts that cannot be compiled', () => {
    const steps = router.applySteps(version('one'));
    steps.return([]);
    const invalid = hostOf([directOf('x', { options: { rbac: { id: 'invalid' } as never } })]);
    const again = router.applySteps(snapshotOf([invalid]));
    for (;;) {
      const { done, value } = again.next();
      if (!done) continue;
      expect(value).to.deep.equal([
        { listener: LISTENER, virtualHost: invalid.name, field: 'routes[0]', reason: 'invalid' },
      ]);
      return;
    }
  });

  it('is given up for one that is applied meanwhile, and closes what it compiled', async () => {
    router.apply(version('one'));
    const steps = router.applySteps(version('two'));
    steps.next();
    expect(open.size).to.equal(hosts.length + 1);
    router.apply(version('three'));
    for (;;) {
      const { done, value } = steps.next();
      if (!done) continue;
      expect(value).to.deep.equal([]);
      break;
    }
    expect(await served()).to.deep.equal(all('three'));
    expect([...open].sort()).to.deep.equal(ids('three'));
  });

  it('closes what it compiled when its steps are ended', async () => {
    router.apply(version('one'));
    const steps = router.applySteps(version('two'));
    steps.next();
    steps.return([]);
    expect(await served()).to.deep.equal(all('one'));
    expect([...open].sort()).to.deep.equal(ids('one'));
    router.apply(version('two'));
    expect(await served()).to.deep.equal(all('two'));
  });

  it('is not served by a router that closes meanwhile', async () => {
    router.apply(version('one'));
    const steps = router.applySteps(version('two'));
    steps.next();
    await router.close();
    while (!steps.next().done);
    expect(await served()).to.deep.equal(all(''));
    expect(open.size).to.equal(0);
  });

  it('is applied between requests by a listener of a control plane that returns its steps', async () => {
    const documents = (status: number) =>
      hosts.map((name) => ({
        apiVersion: 'gateway.vendor.io/v1',
        kind: 'VirtualService',
        metadata: { name },
        spec: {
          virtualHost: {
            domains: [name],
            routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status, body: String(status) } }],
          },
        },
      }));
    const source = memorySource({ all: documents(201) });
    const controlPlane = createControlPlane({ source, log: silentLoggers });
    controlPlane.subscribe((state) => router.applySteps(state.snapshots.get('gateway-proxy')!));
    await controlPlane.start();
    expect(await served()).to.deep.equal(all('201'));
    source.set('all', documents(202));
    await controlPlane.settled();
    expect(await served()).to.deep.equal(all('202'));
    await controlPlane.close();
  });

  it('leaves the upstreams of the previous one in use until then', async () => {
    const backends = await Promise.all(['one', 'two', 'three'].map((name) => start((_req, res) => res.end(name))));
    const [one, two, three] = backends.map(({ port: at }) => [endpointOf(at)]);
    const before = [hostOf([routeOf({ to: 'kept_gw-system' })], { domains: ['kept.example'], name: 'kept' })];
    const removed = hostOf([routeOf({ to: 'removed_gw-system' })], { domains: ['removed.example'], name: 'removed' });
    const added = hostOf([routeOf({ to: 'added_gw-system' })], { domains: ['added.example'], name: 'added' });
    router.apply(snapshotOf([...before, removed], [upstreamOf(one!, 'kept'), upstreamOf(two!, 'removed')]));
    const bodyOf = async (host: string): Promise<string> => (await ask(port, '/', { headers: { host } })).body;
    const steps = router.applySteps(
      snapshotOf([...before, added], [upstreamOf(three!, 'kept'), upstreamOf(two!, 'added')]),
    );
    while (!steps.next().done) {
      expect(await bodyOf('kept.example')).to.equal('one');
      expect(await bodyOf('removed.example')).to.equal('two');
    }
    expect(await bodyOf('kept.example')).to.equal('three');
    expect(await bodyOf('added.example')).to.equal('two');
    expect(router.hostStates('added_gw-system')).to.have.lengthOf(1);
    expect(router.hostStates('removed_gw-system')).to.equal(undefined);
  });
});
