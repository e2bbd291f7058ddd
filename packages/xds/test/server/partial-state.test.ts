import { expect } from 'chai';
import { ENVOY_TYPE } from '../../src/resources/envoy-types.ts';
import { createEnvoyTranslation, NODE_TRANSLATION } from '../../src/index.ts';
import { startProxy, startServer, until } from '../planes.ts';
import { service, startStates, upstream } from '../states.ts';
import { NODE, openDelta, openWorld } from './scripted-client.ts';

describe('a partial state', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  const opened: { close(): unknown }[] = [];
  beforeEach(async () => {
    states = await startStates({ a: service('a', 'one'), up: upstream('up', 1) });
    server = await startServer({ translations: [NODE_TRANSLATION, createEnvoyTranslation({})] });
    opened.push(server, states);
  });
  afterEach(async () => {
    for (const each of opened.splice(0).toReversed()) await each.close();
  });
  function track<T extends { close(): unknown }>(each: T): T {
    opened.push(each);
    return each;
  }
  const endpointsOf = (proxy: ReturnType<typeof startProxy>): number | undefined =>
    proxy.served?.upstreams.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  const currentOf = (node: string): boolean | undefined =>
    server.server.proxies().find((each) => each.node === node)?.current;

  it('is sent to new proxies only: the others keep their state until there is a complete one', async () => {
    const first = await startServer();
    first.publish(states.current());
    const running = track(startProxy([first.port, server.port]));
    await until(() => running.accepted > 0, 'the first state');
    // The second control plane does not know the upstream yet.
    states.source.delete('up');
    server.publish(states.current(), { isPartial: true });
    first.close();
    await until(() => running.client.connectedTo === `127.0.0.1:${server.port}`, 'the other control plane');
    const fresh = track(
      startProxy([server.port], { node: { id: 'fresh', proxy: 'gateway-proxy', namespace: 'gw-system' } }),
    );
    await until(() => currentOf('fresh') === true, 'the partial state of a new proxy');
    expect([endpointsOf(fresh), endpointsOf(running)]).to.deep.equal([0, 1]);
    expect(currentOf(`node~${first.port}`)).to.equal(false);
    states.source.set('up', upstream('up', 2));
    server.publish(states.current());
    await until(() => currentOf(`node~${first.port}`) === true, 'the complete state');
    expect([endpointsOf(fresh), endpointsOf(running)]).to.deep.equal([1, 1]);
    expect(running.served!.upstreams[0]!.endpoints[0]!.port).to.equal(2);
  });

  it('removes nothing from an Envoy that announces resources', async () => {
    server.publish(states.current(), { isPartial: true });
    const type_url = ENVOY_TYPE.cluster;
    const delta = track(openDelta(server.port));
    delta.send({ node: NODE, type_url, initial_resource_versions: { 'up_gw-system': '1', 'gone_gw-system': '1' } });
    const world = track(openWorld(server.port));
    world.send({ node: NODE, type_url, version_info: '1' });
    const fresh = track(openWorld(server.port));
    fresh.send({ node: NODE, type_url });
    expect((await fresh.response(0)).resources).to.have.length(1);
    expect([delta.responses, world.responses]).to.deep.equal([[], []]);
    server.publish(states.current());
    expect((await delta.response(0)).resources.map(({ name }) => name)).to.deep.equal(['up_gw-system']);
    expect((await delta.response(1)).removed_resources).to.deep.equal(['gone_gw-system']);
    expect((await world.response(0)).resources).to.have.length(1);
  });
});
